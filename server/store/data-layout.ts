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
/** Below `tenants`, in the folder of one. */
export const tenantFile = 'tenant.sqlite';
export const artifactsFolder = 'artifacts';
/** Locked while the folder is in use; nothing is ever written to it. */
export const lockFile = 'server.lock';

/** An id is the name of a folder, and a content's digest that of a file. */
export const tenantFolderName = /^[0-9a-f-]{36}$/;
export const contentName = /^[0-9a-f]{64}$/;
