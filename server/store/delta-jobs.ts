/**
 * Jobs that generate a delta between two artifacts. `management/delta-jobs.ts` completes each job
 * at once.
 */
import { bounds, type Page } from './engine/page.ts';
import { document, number, numberIn, text } from './engine/row.ts';
import type { Sql, SqlRow } from './engine/sql.ts';

export interface StoredDeltaJob {
  readonly id: string;
  readonly deploymentId: string;
  /** Name of the artifact before the update; `toVersion` is the one after it. */
  readonly fromVersion: string;
  readonly toVersion: string;
  readonly deviceTypes: readonly string[];
  /** Size in bytes of the artifact after the update. */
  readonly toSizeBytes: number;
  readonly startedMs: number;
}

/** The fields that are stored as JSON; the others have their own columns. */
type Document = Pick<StoredDeltaJob, 'fromVersion' | 'toVersion' | 'deviceTypes' | 'toSizeBytes'>;

/** A job to be stored. */
export interface NewDeltaJob extends Document {
  readonly id: string;
  readonly deploymentSeq: number;
  readonly fromArtifactId: string;
  readonly toArtifactId: string;
  readonly nowMs: number;
}

/** Reads and writes the delta jobs of a tenant. */
export class DeltaJobStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Stores a job, unless the deployment already has one between the same two artifacts. */
  begin(job: NewDeltaJob): void {
    const { fromVersion, toVersion, deviceTypes, toSizeBytes } = job;
    const document: Document = { fromVersion, toVersion, deviceTypes, toSizeBytes };
    this.#sql.run(
      `INSERT OR IGNORE INTO delta_jobs
         (id, deployment_seq, from_artifact_id, to_artifact_id, document, started_ms)
       VALUES (?, ?, ?, ?, ?, ?)`,
      [
        job.id,
        job.deploymentSeq,
        job.fromArtifactId,
        job.toArtifactId,
        JSON.stringify(document),
        job.nowMs,
      ],
    );
  }

  find(id: string): StoredDeltaJob | undefined {
    const row = this.#sql.first(`${jobQuery} WHERE j.id = ?`, [id]);
    return row && deltaJob(row);
  }

  /** Returns a page of jobs, newest first. */
  list(page: Page): StoredDeltaJob[] {
    const query = `${jobQuery} ORDER BY j.seq DESC LIMIT ? OFFSET ?`;
    return this.#sql.all(query, bounds(page)).map(deltaJob);
  }

  count(): number {
    return numberIn(this.#sql, 'SELECT count(*) AS n FROM delta_jobs');
  }
}

const jobQuery = `SELECT j.id, j.document, j.started_ms, d.id AS deployment_id
  FROM delta_jobs j JOIN deployments d ON d.seq = j.deployment_seq`;

function deltaJob(row: SqlRow): StoredDeltaJob {
  return {
    ...document<Document>(row, 'document'),
    id: text(row, 'id'),
    deploymentId: text(row, 'deployment_id'),
    startedMs: number(row, 'started_ms'),
  };
}
