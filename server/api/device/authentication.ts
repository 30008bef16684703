/** Authentication requests of devices. Spec: Device authentication */
import { limits } from '../../../fixtures/contract/limits.ts';
import { signatureFits } from '../../crypto/device-signature.ts';
import { type PublicKey, readPublicKey } from '../../crypto/public-key.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import { activateTenant } from '../../pipeline/callers.ts';
import { defineEndpointWithOwnTransactions, type HandlerContext } from '../../pipeline/endpoint.ts';
import { type AuthOutcome, type AuthSituation, authOutcomes } from '../../rules/authentication.ts';
import { readIdentity } from '../../rules/identity.ts';
import type { StoredAuthSet, StoredDevice } from '../../store/devices.ts';
import { audit, deviceActor, deviceObject } from '../../tenants/audit.ts';
import { hasPlaceFor, hasRoomFor } from '../../tenants/device-limit.ts';
import { keysOfFleet } from '../../tenants/fleet-keys.ts';
import { missingSignature, unusableKey, wrongSignature } from './signature-refusals.ts';

const notIdentity = {
  path: 'body.id_data',
  expected: 'the text of a JSON object, such as {"mac":"02:00:00:00:00:01"}',
  requirement: 'auth.id-data-is-json-text',
};

export const postAuthRequest = defineEndpointWithOwnTransactions(
  'post-auth-request',
  ({ body }, context) => {
    const identity = readIdentity(body.id_data);
    if ('because' in identity)
      return refuse.malformed(`body: id_data: ${identity.because}`, {
        ...notIdentity,
        ...(identity.expected !== undefined && { expected: identity.expected }),
      });
    const key = readPublicKey(body.pubkey);
    if ('because' in key) return unusableKey(body.pubkey, key.because);
    const { signature } = context.names;
    const given = context.request.headers[signature.toLowerCase()];
    if (typeof given !== 'string' || given === '') {
      return missingSignature(signature, context.request.rawHeaders);
    }
    const tenant = tenantOf(context, body.tenant_token);
    if (!signatureFits(context.rawBody, key, given)) {
      const otherKeys =
        tenant instanceof Refusal ? [] : keysOfFleet(tenant.store, identity.canonical);
      const refused = { body: context.rawBody, key, signatureText: given, otherKeys };
      return wrongSignature(signature, refused);
    }
    if (tenant instanceof Refusal) return tenant;
    const proven = { identity: identity.canonical, key, externalId: body.external_id };
    return tenant.store.atomically(() => decide(context.moveTo(tenant), proven));
  },
);

/**
 * Returns the tenant that a device names; the first one when it names none. An unknown token also
 * selects the first tenant while it is the only one, since clients carry tokens over from other
 * servers; with several it is refused, because it would put a device into another tenant.
 */
function tenantOf({ tenants, settings }: HandlerContext, token: string | undefined) {
  const ignored = token === undefined || token === '' || settings.variants.has('open-source');
  const named = ignored ? tenants.first : tenants.findByToken(token);
  const tenant = named ?? (tenants.areOne ? tenants.first : undefined);
  if (!tenant) {
    return refuse.unauthorized(
      'the tenant_token is unknown; send the token of a tenant, or leave it out',
      {
        path: 'body.tenant_token',
        expected: 'the token of a tenant of this server, or none',
        requirement: 'auth.refusal-says-why',
      },
    );
  }
  if (tenant.status === 'suspended') {
    return refuse.forbidden("Account suspended: the tenant's devices cannot sign in", {
      path: 'state',
      expected: 'an active tenant',
      actual: 'a suspended one',
      requirement: 'auth.forbidden-is-403',
      remedy: activateTenant,
    });
  }
  return tenant;
}

/** An identity and a key that are proven to belong together. */
interface ProvenDevice {
  readonly identity: string;
  readonly key: PublicKey;
  readonly externalId: string | undefined;
}

function decide(context: HandlerContext, proven: ProvenDevice) {
  const { devices } = context.store;
  const known = devices.findByIdentity(proven.identity);
  const set = known && devices.findAuthSet(known.id, proven.key.pem);
  const situation = situationOf(context, { known, set });
  const outcome = authOutcomes[situation];
  if (outcome.effect === 'record' && !mayRecord(context, proven, known)) return noPlace;
  const recorded = carryOut(context, outcome, { proven, known, set });
  // A key that was never accepted must not rename a working device.
  if (recorded && proven.externalId && (outcome.granted || known?.status !== 'accepted')) {
    devices.recordExternalId(recorded.deviceId, proven.externalId);
  }
  if (!recorded || !outcome.granted) {
    const told = `device not authorized: ${reasonOf(outcome, recorded, context)}`;
    return refuse.unauthorized(told, {
      path: 'state',
      expected: expectedOf[situation] ?? 'an accepted key of this device',
      actual: actualOf[situation],
      requirement: requirementOf[situation],
    });
  }
  return { status: 200, body: issueToken(context, recorded) } as const;
}

const noPlace = refuse.tooManyRequests(
  limits.pendingRetrySeconds,
  'too many devices are pending; a user must accept or decommission some of them',
  { expected: 'fewer pending keys than --pending-devices-max', actual: 'as many' },
);

function mayRecord(
  context: HandlerContext,
  { identity, key }: ProvenDevice,
  known: StoredDevice | undefined,
): boolean {
  return (
    acceptsByItself(context, known) || hasPlaceFor(context, { identity, publicKeyPem: key.pem })
  );
}

function acceptsByItself(context: HandlerContext, known: StoredDevice | undefined): boolean {
  return context.settings.autoAccept && hasRoomFor(context, known);
}

/** The requirement that refuses a device, by its situation. */
const requirementOf: Record<AuthSituation, string> = {
  'unknown-device': 'auth.first-contact-is-401',
  'unknown-key': 'auth.new-key-waits',
  'too-many-keys': 'auth.refusal-says-why',
  'limit-reached': 'auth.refusal-says-why',
  pending: 'auth.undecided-is-401',
  rejected: 'auth.rejected-is-refused',
  accepted: 'auth.refusal-says-why',
  preauthorized: 'auth.refusal-says-why',
};

/** What a device lacks that is refused, by its situation. */
const actualOf: Record<AuthSituation, string> = {
  'unknown-device': 'a new device, which this request has recorded',
  'unknown-key': 'a new key of a known device, which this request has recorded',
  'too-many-keys': `a new key of a device that has used ${limits.authSetsMax} others`,
  'limit-reached': 'as many accepted devices as the limit allows',
  pending: 'a pending key: no user has accepted it yet',
  rejected: 'a rejected key',
  accepted: 'an accepted key',
  preauthorized: 'a preauthorized key',
};

/** What would let it in, where that is more than that a user accepts its key. */
const expectedOf: Partial<Record<AuthSituation, string>> = {
  'too-many-keys': `at most ${limits.authSetsMax} keys of one identity`,
  'limit-reached': 'fewer accepted devices than the limit allows',
};

function reasonOf(
  { because }: AuthOutcome,
  recorded: StoredAuthSet | undefined,
  { store }: HandlerContext,
): string {
  const isAccepted = recorded && store.devices.acceptedDevice(recorded.id);
  if (!isAccepted) return because;
  return 'the first request is always refused; the server has accepted the device automatically, send the request again';
}

/** What is known about the identity and the key; each may be new. */
interface Known {
  readonly known: StoredDevice | undefined;
  readonly set: StoredAuthSet | undefined;
}

function situationOf(context: HandlerContext, { known, set }: Known): AuthSituation {
  if (!known) return 'unknown-device';
  if (!set) {
    const count = context.store.devices.authSets(known.id).length;
    return count < limits.authSetsMax ? 'unknown-key' : 'too-many-keys';
  }
  const isBarred = set.status === 'preauthorized' && !hasRoomFor(context, known);
  return isBarred ? 'limit-reached' : set.status;
}

function carryOut(
  context: HandlerContext,
  { effect }: AuthOutcome,
  { proven, known, set }: Known & { readonly proven: ProvenDevice },
): StoredAuthSet | undefined {
  if (effect !== 'record') {
    if (effect === 'accept' && known && set) acceptPreauthorized(context, known, set);
    return set;
  }
  const recorded = record(context, proven, known);
  // The first request is still refused: auto-accept takes effect right after it.
  if (acceptsByItself(context, known)) {
    context.store.devices.setAuthSetStatus(recorded, 'accepted', context.nowMs);
  }
  return recorded;
}

function acceptPreauthorized(
  context: HandlerContext,
  device: StoredDevice,
  set: StoredAuthSet,
): void {
  context.store.devices.setAuthSetStatus(set, 'accepted', context.nowMs);
  audit(context, {
    actor: deviceActor(device),
    action: 'update',
    object: deviceObject(device),
    change: 'preauthorized; accepted on its first request',
  });
}

function record(
  context: HandlerContext,
  { identity, key }: ProvenDevice,
  known: StoredDevice | undefined,
): StoredAuthSet {
  const { random, nowMs } = context;
  const { devices } = context.store;
  const device = { id: known?.id ?? random.uuid(), identity };
  const set = {
    authSetId: random.uuid(),
    publicKeyPem: key.pem,
    status: 'pending',
    nowMs,
  } as const;
  if (known) devices.recordAuthSet(known.id, set);
  else devices.recordFirstContact(device, set);
  audit(context, {
    actor: deviceActor(device),
    action: known ? 'update' : 'create',
    object: deviceObject(device),
    change: known ? 'new key; pending acceptance' : 'first request; pending acceptance',
  });
  return {
    id: set.authSetId,
    deviceId: device.id,
    publicKeyPem: key.pem,
    status: 'pending',
    createdMs: nowMs,
    tokensFromSeconds: 0,
  };
}

function issueToken(
  { tokens, tenant, settings, nowMs }: HandlerContext,
  set: StoredAuthSet,
): string {
  // A token issued in the second of a revocation would equal the revoked one.
  const issuedAt = Math.max(Math.floor(nowMs / 1000), set.tokensFromSeconds);
  const expiresAt = issuedAt + settings.tokenLifetimeSeconds;
  const claims = {
    kind: 'device',
    subject: set.deviceId,
    id: set.id,
    tenantId: tenant.id,
  } as const;
  return tokens.issue({ ...claims, expiresAt }, issuedAt);
}
