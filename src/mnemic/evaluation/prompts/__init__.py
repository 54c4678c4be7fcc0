"""What models are told in an evaluation, as files; `mnemic.core.prompts.load` reads them."""
