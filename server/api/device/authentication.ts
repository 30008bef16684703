/**
 * Handles authentication requests of devices: gathers the facts, decides by one rule, and applies
 * the decision.
 * Spec: Device authentication
 */
import { limits } from '../../../fixtures/contract/limits.ts';
import type { AuthRequest } from '../../../fixtures/contract/resources.ts';
import { verifySignature } from '../../crypto/device-signature.ts';
import { type PublicKey, readPublicKey } from '../../crypto/public-key.ts';
import { Refusal, refuse } from '../../http/refusal.ts';
import { defineEndpointWithOwnTransactions, type HandlerContext } from '../../pipeline/endpoint.ts';
import {
  type AuthDecision,
  type AuthFacts,
  decideAuthRequest,
} from '../../rules/authentication.ts';
import { readIdentity } from '../../rules/identity.ts';
import type { RefusalDetail } from '../../rules/refusal-detail.ts';
import type { StoredAuthSet, StoredDevice } from '../../store/devices.ts';
import { audit, deviceActor, deviceObject } from '../../tenants/audit.ts';
import { isBelowKeyLimit, isWithinDeviceLimit } from '../../tenants/device-limit.ts';
import { keysOfFleet } from '../../tenants/fleet-keys.ts';
import type { Tenant } from '../../tenants/tenants.ts';
import { missingSignature, signatureDetail, unusableKey } from './signature-refusals.ts';

export const postAuthRequest = defineEndpointWithOwnTransactions(
  'post-auth-request',
  ({ body }, context) => {
    const authRequest = parseRequest(body, context);
    if (authRequest instanceof Refusal) return authRequest;
    const tenant = tenantOf(context, body.tenant_token);
    const { rawBody } = context;
    const hasValidSignature = verifySignature(rawBody, authRequest.key, authRequest.signatureText);
    if (hasValidSignature && tenant?.status === 'active') context.switchTo(tenant);
    const { facts, ...stored } = gatherFacts(context, authRequest, { hasValidSignature, tenant });
    const decision = decideAuthRequest(facts);
    const set = applyDecision(context, decision, { ...authRequest, ...stored });
    // Only a known authentication set is accepted.
    return decision.status === 200 && set
      ? { status: 200, body: issueToken(context, set) }
      : refusalOf(decision);
  },
);

const identityFormat = 'a JSON object as a string, such as {"mac":"02:00:00:00:00:01"}';

/** A parsed authentication request: the identity that the device claims, and its proof. */
interface ParsedAuthRequest {
  /** The identity as canonical JSON text. */
  readonly identity: string;
  readonly key: PublicKey;
  readonly signatureText: string;
  readonly externalId: string | undefined;
}

function parseRequest(
  body: AuthRequest,
  { headerNames, request, rawBody }: HandlerContext,
): ParsedAuthRequest | Refusal {
  const identity = readIdentity(body.id_data);
  if ('reason' in identity) {
    const { reason: problem, expected = identityFormat } = identity;
    const detail = { expected, requirement: 'auth.id-data-is-json-text' } as const;
    return refuse.malformedAt('body', { path: 'id_data', problem }, detail);
  }
  const key = readPublicKey(body.pubkey);
  if ('reason' in key) return unusableKey(body.pubkey, key.reason);
  const signatureText = request.headers[headerNames.signature.toLowerCase()];
  if (typeof signatureText !== 'string' || signatureText === '') {
    return missingSignature(headerNames.signature, request.rawHeaders, rawBody);
  }
  return { identity: identity.canonical, key, signatureText, externalId: body.external_id };
}

/**
 * Returns the tenant whose token the device sent, or the first tenant if it sent none. An unknown
 * token selects the first tenant if there is only one, because devices often keep a token from
 * another server. With several tenants an unknown token is refused, because it could assign the
 * device to the wrong tenant.
 */
function tenantOf({ tenants, settings }: HandlerContext, token = ''): Tenant | undefined {
  if (token === '' || settings.dialects.has('open-source')) return tenants.first;
  return tenants.findByToken(token) ?? (tenants.hasSingleTenant ? tenants.first : undefined);
}

/**
 * The stored records of the device and of its key. Each is absent if the server has not seen it
 * yet.
 */
interface StoredRecords {
  readonly device?: StoredDevice | undefined;
  readonly set?: StoredAuthSet | undefined;
}

/** Gathers the facts for the decision. */
function gatherFacts(
  context: HandlerContext,
  authRequest: ParsedAuthRequest,
  { hasValidSignature, tenant }: { hasValidSignature: boolean; tenant: Tenant | undefined },
): StoredRecords & { readonly facts: AuthFacts } {
  if (!hasValidSignature) {
    return { facts: { hasValidSignature, detail: wrongSignature(context, authRequest, tenant) } };
  }
  if (!tenant) return { facts: { hasValidSignature, tenant: 'unknown' } };
  if (tenant.status === 'suspended') return { facts: { hasValidSignature, tenant: 'suspended' } };
  const { identity, key } = authRequest;
  const { devices } = tenant.store;
  const device = devices.findByIdentity(identity);
  const set = device && devices.findAuthSet(device.id, key.pem);
  const facts: AuthFacts = {
    hasValidSignature,
    tenant: 'active',
    device: device?.status,
    authSet: set?.status,
    autoAccept: context.settings.autoAccept,
    countKeys: () => (device ? devices.listAuthSets(device.id).length : 0),
    mayBeAccepted: () => isWithinDeviceLimit(context, device),
    mayBeRecorded: () => isBelowKeyLimit(context, { identity, publicKeyPem: key.pem }),
  };
  return { facts, device, set };
}

/** Returns the detail of a wrong signature, with evidence for the explanation. */
function wrongSignature(
  { headerNames, rawBody: body }: HandlerContext,
  { identity, key, signatureText }: ParsedAuthRequest,
  tenant: Tenant | undefined,
): RefusalDetail {
  const mayCompareKeys = tenant !== undefined && tenant.status !== 'suspended';
  const otherKeys = mayCompareKeys ? keysOfFleet(tenant.store, identity) : [];
  return signatureDetail(headerNames.signature, { body, key, signatureText, otherKeys });
}

function refusalOf({ status, reason, detail }: AuthDecision): Refusal {
  switch (status) {
    case 401:
      return refuse.unauthorized(reason, detail);
    case 403:
      return refuse.forbidden(reason, detail);
    case 429:
      return refuse.tooManyRequests(limits.pendingRetrySeconds, detail, reason);
    case 200:
      throw new Error(
        `an authentication request without an authentication set was granted: ${reason}`,
      );
  }
}

/**
 * Returns the authentication set of the request after the decision's writes; undefined if there is
 * none.
 */
function applyDecision(
  context: HandlerContext,
  decision: AuthDecision,
  authRequest: ParsedAuthRequest & StoredRecords,
): StoredAuthSet | undefined {
  const { effect, storesExternalId } = decision;
  // A device that only renews its token changes nothing in the store.
  if (!effect && !(storesExternalId && authRequest.externalId)) return authRequest.set;
  return context.store.atomically(() => writeDecision(context, decision, authRequest));
}

function writeDecision(
  context: HandlerContext,
  { effect, storesExternalId }: AuthDecision,
  authRequest: ParsedAuthRequest & StoredRecords,
): StoredAuthSet | undefined {
  const { device, externalId } = authRequest;
  const { devices } = context.store;
  const isNew = effect === 'record' || effect === 'record-and-accept';
  const set = isNew ? recordNewKey(context, authRequest) : authRequest.set;
  if (!set) return undefined;
  if (effect === 'accept' && device) auditAcceptance(context, device);
  if (effect === 'accept' || effect === 'record-and-accept') {
    devices.setAuthSetStatus(set, 'accepted', context.nowMs);
  }
  if (storesExternalId && externalId) devices.recordExternalId(set.deviceId, externalId);
  return set;
}

function recordNewKey(
  context: HandlerContext,
  { identity, key, device: knownDevice }: ParsedAuthRequest & StoredRecords,
): StoredAuthSet {
  const { random, nowMs } = context;
  const { devices } = context.store;
  const device = { id: knownDevice?.id ?? random.uuid(), identity };
  const fresh = {
    id: random.uuid(),
    publicKeyPem: key.pem,
    status: 'pending',
    nowMs,
  } as const;
  const set = knownDevice
    ? devices.recordAuthSet(knownDevice.id, fresh)
    : devices.recordFirstContact(device, fresh);
  audit(context, {
    actor: deviceActor(device),
    action: knownDevice ? 'update' : 'create',
    object: deviceObject(device),
    change: knownDevice
      ? 'new key; pending until a user accepts it'
      : 'first request; pending until a user accepts it',
  });
  return set;
}

function auditAcceptance(context: HandlerContext, device: StoredDevice): void {
  audit(context, {
    actor: deviceActor(device),
    action: 'update',
    object: deviceObject(device),
    change: 'preauthorized; accepted on its first request',
  });
}

function issueToken(
  { tokenIssuer, tenant, settings, nowMs }: HandlerContext,
  set: StoredAuthSet,
): string {
  // Issue times have whole seconds, so a token issued in the second in which the previous one was
  // revoked would be identical to it. The new token is therefore dated after that second.
  const issuedAt = Math.max(Math.floor(nowMs / 1000), set.tokensValidFromSeconds);
  const expiresAt = issuedAt + settings.tokenLifetimeSeconds;
  const claims = {
    kind: 'device',
    subject: set.deviceId,
    id: set.id,
    tenantId: tenant.id,
  } as const;
  return tokenIssuer.issue({ ...claims, expiresAt }, issuedAt);
}
