/** The names of files in a data folder, and the tables of `server.sqlite`. */

/** Version and tables of `server.sqlite`. */
export const serverShape = {
  version: 2,
  schema: `
CREATE TABLE tenants (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  token TEXT NOT NULL,
  status TEXT NOT NULL,
  is_first INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  is_complete INTEGER NOT NULL
);
CREATE TABLE secrets (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID;
`,
};

export const serverFile = 'server.sqlite';
export const tenantsFolder = 'tenants';
/** Name of a tenant's database, in its folder below `tenants`. */
export const tenantFile = 'tenant.sqlite';
export const artifactsFolder = 'artifacts';
/** Locked while the folder is in use; nothing is written to it. */
export const lockFile = 'server.lock';

/** Folders of tenants are named by tenant ID, files of artifacts by the digest of their content. */
export const tenantFolderName = /^[0-9a-f-]{36}$/;
export const contentName = /^[0-9a-f]{64}$/;
