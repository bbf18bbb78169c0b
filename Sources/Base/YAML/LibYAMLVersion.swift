import CYAML

/// The name and version of libyaml, as loaded at run time.
package var yamlLibraryVersion: String { "libyaml " + String(cString: yaml_get_version_string()) }
