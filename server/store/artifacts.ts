/** Uploaded artifacts. Their bytes are in `files.ts`. Spec: Artifact */
import type { Artifact } from '../../fixtures/contract/resources.ts';
import { type Condition, equal, filterBy } from './filter.ts';
import { bounds, type Page } from './page.ts';
import { document, number, text, textOrNothing } from './row.ts';
import type { Sql, SqlRow } from './sql.ts';

/** The resource together with the name of its content. */
export interface StoredArtifact {
  readonly artifact: Artifact & {
    readonly artifact_provides: Record<string, string>;
    readonly artifact_depends: Record<string, string[]>;
    readonly size: number;
  };
  readonly sha256: string;
  readonly modifiedMs: number;
}

export interface ArtifactFilter {
  /** Exact. */
  readonly release?: string | undefined;
  /** Exact, or a prefix when it ends in `*`. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly deviceType?: string | undefined;
}

/** The verbs for artifacts. */
export class ArtifactStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  save({ artifact, sha256, modifiedMs }: StoredArtifact): void {
    this.#sql.run('INSERT INTO artifacts VALUES (?, ?, ?, ?, ?, ?, ?)', [
      artifact.id,
      artifact.name,
      artifact.description ?? null,
      JSON.stringify(artifact),
      sha256,
      artifact.size,
      modifiedMs,
    ]);
  }

  find(id: string): StoredArtifact | undefined {
    const row = this.#sql.first('SELECT * FROM artifacts WHERE id = ?', [id]);
    return row && stored(row);
  }

  /** All artifacts of one name; a release. */
  findByName(name: string): StoredArtifact[] {
    const query = 'SELECT * FROM artifacts WHERE name = ? ORDER BY modified_ms, id LIMIT 1000';
    return this.#sql.all(query, [name]).map(stored);
  }

  /** Artifacts, the newest first. */
  list(filter: ArtifactFilter, page: Page): StoredArtifact[] {
    const { where, values } = artifactFilter(filter);
    const query = `SELECT * FROM artifacts ${where} ORDER BY modified_ms DESC, id LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map(stored);
  }

  count(filter: ArtifactFilter): number {
    const { where, values } = artifactFilter(filter);
    const row = this.#sql.first(`SELECT count(*) AS n FROM artifacts ${where}`, values);
    return row ? number(row, 'n') : 0;
  }

  /** Forgets the artifact; tells whether its content is still wanted by another. */
  remove(id: string, sha256: string): { contentInUse: boolean } {
    this.#sql.run('DELETE FROM artifacts WHERE id = ?', [id]);
    const other = this.#sql.first('SELECT 1 FROM artifacts WHERE sha256 = ? LIMIT 1', [sha256]);
    return { contentInUse: other !== undefined };
  }
}

function artifactFilter({ release, name, description, deviceType }: ArtifactFilter) {
  return filterBy(
    equal('name', release),
    name === undefined ? undefined : exactOrPrefix('name', name),
    equal('description', description),
    deviceType === undefined
      ? undefined
      : [
          `EXISTS (SELECT 1 FROM json_each(document, '$.device_types_compatible') t
             WHERE t.value = ?)`,
          deviceType,
        ],
  );
}

function exactOrPrefix(column: string, wanted: string): Condition {
  if (!wanted.endsWith('*')) return [`${column} = ?`, wanted];
  const prefix = wanted.slice(0, -1);
  // The engine counts characters otherwise than JavaScript does, so it counts both.
  return [`substr(${column}, 1, length(?)) = ?`, prefix, prefix];
}

function stored(row: SqlRow): StoredArtifact {
  const description = textOrNothing(row, 'description');
  return {
    artifact: {
      ...document<StoredArtifact['artifact']>(row, 'document'),
      ...(description !== undefined && { description }),
    },
    sha256: text(row, 'sha256'),
    modifiedMs: number(row, 'modified_ms'),
  };
}
