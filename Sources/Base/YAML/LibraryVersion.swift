import CYAML

/// Of the library that the process runs with.
package var yamlLibraryVersion: String { "libyaml " + String(cString: yaml_get_version_string()) }
