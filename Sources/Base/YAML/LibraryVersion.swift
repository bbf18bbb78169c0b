import CYAML

/// The version of the library that the process runs with.
package var yamlLibraryVersion: String { "libyaml " + String(cString: yaml_get_version_string()) }
