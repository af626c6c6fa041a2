-- bloom_version(): text, semantic version.
SELECT 'type', typeof(bloom_version());
SELECT 'semantic version', bloom_version() GLOB '[0-9]*.[0-9]*.[0-9]*';
