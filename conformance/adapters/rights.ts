/**
 * The rights of the user as whom the suite acts. A missing right shows as status 403. Before a run,
 * requests that cannot act look for missing rights; during a run, every request of the user does.
 * Spec: Errors
 */
import { permissionSets } from '../../fixtures/contract/management/access.ts';
import { managementOperations as managed } from '../../fixtures/contract/management/index.ts';
import { operations } from '../../fixtures/contract/operations.ts';
import type { Capability } from '../context/capabilities.ts';
import { type CleanupLedger, noLedger } from '../context/cleanup-ledger.ts';
import type { UserToken } from '../context/management-admin.ts';
import type { ResourceKind } from '../context/resource.ts';
import { bearer, requestOf } from '../target/call.ts';
import { type KnownOperation, type KnownRow, recognizeRequest } from '../target/operation-at.ts';
import { MissingRightsError } from '../target/setup-error.ts';
import type { CompletedExchange, TargetClient, WireRequest } from '../target/target.ts';
import { TransportFailure } from '../target/transport-failure.ts';
import { MissingCapability } from './missing-capability.ts';

/** The reason code of a case that was not run, or not judged, because the user lacks a right. */
const UNAUTHORISED = 'unauthorized';
const FORBIDDEN = 403;

interface Probe {
  /** A request that no server can carry out: for an unknown ID, or with a body that is refused. */
  readonly request: WireRequest;
  /** The part of the API whose cases alone need the right; all cases of a user if absent. */
  readonly part?: Capability;
}

const id = '00000000-0000-4000-8000-000000000000';
const path = { id, aid: id };

const probes: readonly Probe[] = [
  { request: requestOf(managed['get-device'], { path }) },
  { request: requestOf(managed['preauthorize-device'], { body: {} }) },
  { request: requestOf(managed['set-auth-set-status'], { path, body: {} }) },
  { request: requestOf(managed['decommission-device'], { path }) },
  { request: requestOf(managed['upload-artifact'], { body: {} }) },
  { request: requestOf(managed['list-all-artifacts'], { query: { name: id } }) },
  { request: requestOf(managed['update-artifact'], { path, body: {} }) },
  { request: requestOf(managed['delete-artifact'], { path }) },
  { request: requestOf(managed['create-deployment'], { body: {} }) },
  { request: requestOf(managed['abort-deployment'], { path, body: {} }) },
  { request: requestOf(managed['list-deployment-devices'], { path }) },
  { request: requestOf(managed['show-configuration'], { path }), part: 'configuration' },
  { request: requestOf(managed['set-configuration'], { path, raw: '[' }), part: 'configuration' },
  {
    request: requestOf(managed['deploy-configuration'], { path, raw: '[' }),
    part: 'configuration',
  },
  { request: requestOf(managed['get-connection'], { path }), part: 'connect' },
  { request: requestOf(managed['get-inventory'], { path }), part: 'inventory' },
  { request: requestOf(managed['list-alerts'], { path }), part: 'monitor' },
  {
    request: requestOf(operations['list-audit-logs'], { query: { per_page: 1 } }),
    part: 'audit-log',
  },
];

/** The operation that removes a resource. Only the control listener removes tenants. */
const removals: Readonly<Partial<Record<ResourceKind, KnownOperation>>> = {
  device: 'decommission-device',
  artifact: 'delete-artifact',
  deployment: 'abort-deployment',
};

/** The properties of a case that decide which rights it may need. */
interface ActingCase {
  readonly needs: readonly Capability[];
  readonly effect: string;
}

/** The rights of one user, as far as they are known. */
export class Rights {
  /** The operations that were answered with 403. */
  readonly #missing = new Map<KnownOperation, KnownRow>();
  /** The operations whose right is proved by a success. A later 403 is then not about rights. */
  readonly #held = new Set<KnownOperation>();
  readonly #user: UserToken;

  constructor(user: UserToken) {
    this.#user = user;
  }

  /**
   * Probes the rights that these cases may need. A response other than 403 proves no lack.
   * @param isAdmin true if the user accepts and deploys by the management API, false with hooks
   */
  async probe(client: TargetClient, cases: readonly ActingCase[], isAdmin: boolean): Promise<void> {
    const ofUser = cases.filter(({ needs }) => needs.includes('user'));
    const isNeeded = ({ part }: Probe): boolean =>
      (isAdmin || part === 'audit-log') &&
      ofUser.some(({ needs, effect }) => (part ? needs.includes(part) : effect !== 'read'));
    await Promise.all(
      probes.filter(isNeeded).map(async ({ request }) => {
        const headers = { ...request.headers, ...bearer(this.#user.token) };
        try {
          this.#record(request, (await client.send({ ...request, headers })).status);
        } catch (error) {
          if (!(error instanceof TransportFailure)) throw error;
        }
      }),
    );
  }

  /** Throws if a probe found a missing right. @throws MissingRightsError */
  require(): void {
    if (this.#missing.size > 0)
      throw new MissingRightsError(missingRightsText([...this.#missing.values()]));
  }

  /** Returns the missing right that an exchange of this user shows, as a sentence. */
  missingRightIn({ request, outcome }: CompletedExchange): string | undefined {
    if (outcome instanceof Error) return undefined;
    if (request.headers?.authorization !== bearer(this.#user.token).authorization) return undefined;
    const row = this.#record(request, outcome.status);
    return row && missingRightsText([row]);
  }

  /** Returns a ledger that announces no resource which the user could not remove. */
  guard(ledger: CleanupLedger = noLedger): CleanupLedger {
    return {
      announce: async (resource, caseId) => {
        const removal = removals[resource.kind];
        const missingRow = removal && this.#missing.get(removal);
        if (missingRow) throw new MissingCapability(UNAUTHORISED, missingRightsText([missingRow]));
        return ledger.announce(resource, caseId);
      },
    };
  }

  /** Returns the operation of a request that was refused for lack of a right. */
  #record({ method, url }: WireRequest, status: number): KnownRow | undefined {
    const { row } = recognizeRequest(method, url.split('?')[0] ?? '');
    if (row?.authorization !== 'user') return undefined;
    if (status >= 200 && status < 300) this.#held.add(row.id);
    if (status !== FORBIDDEN || this.#held.has(row.id)) return undefined;
    this.#missing.set(row.id, row);
    return row;
  }
}

/** Returns the missing rights by their names in this product family, with the refused requests. */
function missingRightsText(rows: readonly KnownRow[]): string {
  const requests = new Map<string, string[]>();
  for (const { permissions = [], method, path: at } of rows) {
    const permissionTexts = permissions.map(
      (name) => `${name} (${permissionSets[name].description.replace(/\.$/, '')})`,
    );
    const name = permissionTexts.join(' or ') || 'to call this operation';
    requests.set(name, [...(requests.get(name) ?? []), `${method} ${at}`]);
  }
  const rights = [...requests].map(([name, each]) => `${name}: 403 for ${each.join(', ')}`);
  return `the user lacks the right ${rights.join('; and ')}`;
}
