"""What every page is built from: the frame, the address, filters, controls, tables, uploads, forms."""
