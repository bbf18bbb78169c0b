// The first type of this module is on its way.
