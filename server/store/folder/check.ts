/**
 * Checks a whole data folder before anything in it is opened: the list of tenants names the tenants,
 * a tenant's artifacts name their files, and a database has its sums beside it. Only reads, so that
 * a folder that is refused stays as it was found.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { plainFile } from '../../../fixtures/plain-file.ts';
import { contentsIn } from '../artifacts.ts';
import {
  artifactsFolder,
  contentName,
  lockFile,
  serverFile,
  serverShape,
  worldFile,
  worldId,
  worldsFolder,
} from '../data-layout.ts';
import { isUnfounded } from '../engine/database-check.ts';
import { text } from '../engine/row.ts';
import type { Sql } from '../engine/sql.ts';
import { StateFault, stateFault } from '../engine/state-fault.ts';
import { readStateFile } from '../engine/state-file.ts';
import { sizeFault } from '../files.ts';
import { worldShape } from '../schema.ts';

/**
 * Makes sure that files are where files must be, and folders where folders must be, before any of
 * them is opened: to open a named pipe waits for ever.
 * @throws StateFault that names what is something else
 */
export function checkKinds(path: string): void {
  requireFiles(path, (name) => name === lockFile || name.startsWith(serverFile));
  const worlds = join(path, worldsFolder);
  for (const id of namesIn(worlds).filter((name) => worldId.test(name))) {
    const folder = join(worlds, id);
    requireFiles(folder, (name) => name.startsWith(worldFile));
    requireFiles(join(folder, artifactsFolder), (name) => contentName.test(name));
  }
}

function requireFiles(folder: string, isOurs: (name: string) => boolean): void {
  for (const name of namesIn(folder).filter(isOurs)) {
    const path = join(folder, name);
    try {
      plainFile(path);
    } catch (fault) {
      throw stateFault(path, fault);
    }
  }
}

/** Nothing where the folder is not there yet. */
function namesIn(folder: string): readonly string[] {
  try {
    return existsSync(folder) ? readdirSync(folder) : [];
  } catch (fault) {
    throw stateFault(folder, fault);
  }
}

/** @throws StateFault that names the file which is missing, or not as it was written */
export function checkDataFolder(path: string): void {
  const server = join(path, serverFile);
  const worlds = join(path, worldsFolder);
  const isBegun = existsSync(worlds);
  if (!isBegun && isUnfounded(server)) return;
  const rows = readStateFile(server, serverShape, (sql) =>
    sql.all('SELECT id, is_complete FROM worlds').map((row) => ({
      id: text(row, 'id'),
      isComplete: row.is_complete === 1,
    })),
  );
  if (!isBegun && rows.some(({ isComplete }) => isComplete)) throw missing(worlds);
  const listed = new Set(rows.map(({ id }) => id));
  for (const name of isBegun ? readdirSync(worlds) : []) {
    if (!worldId.test(name) || listed.has(name)) continue;
    const told = `${join(worlds, name)} is the folder of a tenant that ${server} does not list`;
    throw new StateFault('damaged', told);
  }
  for (const { id, isComplete } of rows) if (isComplete) checkWorld(join(worlds, id));
}

function checkWorld(folder: string): void {
  if (!existsSync(folder)) throw missing(folder);
  readStateFile(join(folder, worldFile), worldShape, (sql) =>
    requireContents(sql, join(folder, artifactsFolder)),
  );
}

/** Sizes only: the content of a file is checked when it is asked for. */
function requireContents(sql: Sql, folder: string): void {
  for (const { name, sha256, sizeBytes } of contentsIn(sql)) {
    const path = join(folder, sha256);
    const fault = sizeFault(path, sizeBytes);
    if (fault === undefined) continue;
    throw new StateFault('damaged', `${path}, the file of the artifact ${name}, ${fault}`);
  }
}

function missing(path: string): StateFault {
  return new StateFault('damaged', `${path} is missing`);
}
