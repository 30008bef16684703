/** Deployments as users make them. The devices' parts are in `deployment-devices.ts`. */
import type { GivenControlMap } from '../../fixtures/contract/resources.ts';
import type { DeploymentStatusOverall } from '../../fixtures/contract/vocabulary.ts';
import { type Condition, filterBy, oneOf } from './filter.ts';
import { bounds, type Page } from './page.ts';
import { document, number, numberOrNothing, text, textOrNothing } from './row.ts';
import type { Sql, SqlRow } from './sql.ts';

export interface StoredDeployment {
  /** Order of creation. */
  readonly seq: number;
  readonly id: string;
  readonly type: 'software' | 'configuration';
  readonly name: string;
  readonly artifactName: string;
  readonly deviceCount: number;
  readonly forceInstallation: boolean;
  readonly controlMap?: GivenControlMap;
  /** Settings to be delivered by a configuration deployment. */
  readonly configuration?: Record<string, string>;
  readonly createdMs: number;
  readonly finishedMs?: number;
}

export interface NewDeployment {
  readonly id: string;
  readonly type: 'software' | 'configuration';
  readonly name: string;
  readonly artifactName: string;
  readonly deviceIds: readonly string[];
  /** Equal for equal sets of devices. */
  readonly deviceDigest: string;
  readonly forceInstallation: boolean;
  readonly controlMap?: GivenControlMap;
  readonly configuration?: Record<string, string>;
  readonly nowMs: number;
}

export interface DeploymentFilter {
  readonly id: readonly string[];
  readonly name: readonly string[];
  readonly status?: DeploymentStatusOverall;
}

/** A deployment's own state follows from its devices' parts. */
const touched = `EXISTS (SELECT 1 FROM deployment_devices p
  WHERE p.deployment_seq = deployments.seq AND p.status <> 'pending')`;
const statusConditions: Record<DeploymentStatusOverall, Condition> = {
  finished: ['finished_ms IS NOT NULL'],
  inprogress: [`finished_ms IS NULL AND ${touched}`],
  pending: [`finished_ms IS NULL AND NOT ${touched}`],
};

/** The verbs for deployments. */
export class DeploymentStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Creates the deployment with one pending part for each device. */
  create(deployment: NewDeployment): void {
    this.#sql.atomically(() => {
      this.#insert(deployment);
      const seq = this.find(deployment.id)?.seq ?? 0;
      for (const deviceId of deployment.deviceIds) {
        this.#sql.run(
          `INSERT INTO deployment_devices (deployment_seq, device_id, status)
           VALUES (?, ?, 'pending')`,
          [seq, deviceId],
        );
      }
    });
  }

  find(id: string): StoredDeployment | undefined {
    const row = this.#sql.first('SELECT * FROM deployments WHERE id = ?', [id]);
    return row && deployment(row);
  }

  /** An unfinished deployment of the same name and artifact to the same devices. */
  findIdenticalActive(wanted: Pick<NewDeployment, 'name' | 'artifactName' | 'deviceDigest'>) {
    const row = this.#sql.first(
      `SELECT * FROM deployments WHERE finished_ms IS NULL
         AND name = ? AND artifact_name = ? AND device_digest = ?`,
      [wanted.name, wanted.artifactName, wanted.deviceDigest],
    );
    return row && deployment(row);
  }

  /** Deployments by time of creation. */
  list(filter: DeploymentFilter, order: 'asc' | 'desc', page: Page): StoredDeployment[] {
    const { where, values } = deploymentFilter(filter);
    const direction = order === 'asc' ? 'ASC' : 'DESC';
    const query = `SELECT * FROM deployments ${where} ORDER BY seq ${direction} LIMIT ? OFFSET ?`;
    return this.#sql.all(query, [...values, ...bounds(page)]).map(deployment);
  }

  count(filter: DeploymentFilter): number {
    const { where, values } = deploymentFilter(filter);
    const row = this.#sql.first(`SELECT count(*) AS n FROM deployments ${where}`, values);
    return row ? number(row, 'n') : 0;
  }

  /** True while an unfinished deployment is of this artifact name. */
  isArtifactInUse(artifactName: string): boolean {
    const query = `SELECT 1 FROM deployments
      WHERE finished_ms IS NULL AND type = 'software' AND artifact_name = ? LIMIT 1`;
    return this.#sql.first(query, [artifactName]) !== undefined;
  }

  #insert(deployment: NewDeployment): void {
    this.#sql.run(
      `INSERT INTO deployments (id, type, name, artifact_name, device_digest, device_count,
         force_installation, control_map, configuration, created_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        deployment.id,
        deployment.type,
        deployment.name,
        deployment.artifactName,
        deployment.deviceDigest,
        deployment.deviceIds.length,
        deployment.forceInstallation ? 1 : 0,
        deployment.controlMap ? JSON.stringify(deployment.controlMap) : null,
        deployment.configuration ? JSON.stringify(deployment.configuration) : null,
        deployment.nowMs,
      ],
    );
  }
}

/** Reads a deployment out of a row that has its columns. */
export function deployment(row: SqlRow): StoredDeployment {
  const finishedMs = numberOrNothing(row, 'finished_ms');
  return {
    seq: number(row, 'seq'),
    id: text(row, 'id'),
    type: text(row, 'type') === 'configuration' ? 'configuration' : 'software',
    name: text(row, 'name'),
    artifactName: text(row, 'artifact_name'),
    deviceCount: number(row, 'device_count'),
    forceInstallation: number(row, 'force_installation') === 1,
    createdMs: number(row, 'created_ms'),
    ...(textOrNothing(row, 'control_map') !== undefined && {
      controlMap: document<GivenControlMap>(row, 'control_map'),
    }),
    ...(textOrNothing(row, 'configuration') !== undefined && {
      configuration: document<Record<string, string>>(row, 'configuration'),
    }),
    ...(finishedMs !== undefined && { finishedMs }),
  };
}

function deploymentFilter(filter: DeploymentFilter) {
  return filterBy(
    oneOf('id', filter.id),
    oneOf('name', filter.name),
    filter.status && statusConditions[filter.status],
  );
}
