# SPDX-License-Identifier: MIT
# lint.mk - what a machine can check without judging style. Each lint is a script in mk/check/.

# The declaration of mk/layers.mk, a line each.
define layers_declared
$(foreach layer,$(LAYERS),layer $(layer): $(layer/$(layer)))
endef
layers_lines = $(foreach layer,$(LAYERS),'layer $(layer): $(layer/$(layer))') \
	$(addprefix 'one ,$(addsuffix ',$(LAYER_ONE_FILE))) \
	$(addprefix 'deny ,$(addsuffix ',$(LAYER_DENIED))) \
	$(addprefix 'unlinked ,$(addsuffix ',$(LAYER_UNLINKED)))
