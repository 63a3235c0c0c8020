/* SPDX-License-Identifier: MIT */
/*
 * matrix.h - the cells of a scenario's matrix: every combination of the values of its keys.
 *
 * A cell is an array of value indices, one for each key.
 *
 * Threads: pure functions on caller storage.
 */
#ifndef MATRIX_H
#define MATRIX_H

#include "scenario.h"

/* Number of cells, 1 without a matrix. */
unsigned matrix_cells(const struct scenario *scenario);
/* The value indices of cell @number, the last key turning fastest. */
void matrix_cell(const struct scenario *scenario, unsigned number,
		 unsigned choice[SCENARIO_MATRIX_KEYS_MAX]);
/* "overlap_events=true,workers=1", "" without a matrix; malloc'ed, NULL when out of memory. */
char *matrix_cell_name(const struct scenario *scenario, const unsigned *choice);
/* Read the scenario once more, with the values of the cell in their places, into @cell, which is
 * overwritten; end it with scenario_free(), also when this fails. */
int matrix_decode(const struct scenario *scenario, const unsigned *choice, struct scenario *cell,
		  struct diag *diag);

#endif /* MATRIX_H */
