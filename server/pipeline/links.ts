/**
 * Creates signed links from the address that the caller used, and checks them.
 * Spec: Authentication, rule 8
 */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import * as v from 'valibot';
import { storageOperations } from '../../fixtures/contract/management/storage.ts';
import { pathOf } from '../../fixtures/contract/operation.ts';
import { signedLinkShape } from '../../fixtures/contract/operations.ts';
import { shapeDetail } from '../http/problem-detail.ts';
import { type Refusal, refuse } from '../http/refusal.ts';
import type { Tenant } from '../tenants/tenants.ts';
import type { CallingDevice, HandlerContext } from './endpoint.ts';
import { problemOf } from './input.ts';
import type { Services } from './services.ts';

const linkRule = 'A link is opaque: use it unchanged, and before it expires.';
const linkQuery = v.object(signedLinkShape);
const authority = /^[A-Za-z0-9.-]+(:\d{1,5})?$|^\[[0-9A-Fa-f:.]+\](:\d{1,5})?$/;

/** A link with its expiry time in ISO 8601. */
export type ExpiringLink = {
  readonly uri: string;
  readonly expire: string;
};

/** Path segments of unreserved characters, excluding `.` and `..`. */
const pathPrefix = /^((?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+)\/?$/;

/**
 * Returns the scheme and authority that the caller used; behind a trusted proxy also the path
 * prefix under which the proxy serves this server. Returns `serverUrl` when the request has no usable
 * host.
 */
export function originOf(
  request: IncomingMessage,
  { trustProxy, serverUrl }: { trustProxy: boolean; serverUrl: string },
): string {
  const host = hostOf(request, trustProxy) ?? '';
  if (!authority.test(host)) return serverUrl;
  const forwarded = trustProxy ? firstOf(request.headers['x-forwarded-proto']) : undefined;
  const isSecure =
    forwarded === undefined ? request.socket instanceof TLSSocket : forwarded === 'https';
  const prefix = trustProxy ? firstOf(request.headers['x-forwarded-prefix']) : undefined;
  const [, path = ''] = pathPrefix.exec(prefix ?? '') ?? [];
  return `${isSecure ? 'https' : 'http'}://${host}${path}`;
}

/**
 * Returns the host that the caller requested, from the Host header or a trusted proxy's headers.
 */
export function hostOf(request: IncomingMessage, trustProxy: boolean): string | undefined {
  const forwarded = trustProxy ? firstOf(request.headers['x-forwarded-host']) : undefined;
  return forwarded ?? request.headers.host;
}

/**
 * Returns a link to `path` (escaped) that is valid for the link lifetime from now.
 * @param deviceId the device whose journal shows the download; empty where the path names the
 * device. The signature does not cover it, so that one signature serves all devices: anyone may use a
 * link, so it proves nothing.
 */
export function makeLink(
  context: Pick<HandlerContext, 'linkSigner' | 'headerNames' | 'settings' | 'nowMs' | 'origin'> & {
    readonly tenant?: Pick<Tenant, 'id' | 'isFirst'>;
  },
  path: string,
  deviceId = '',
): ExpiringLink {
  const { linkSigner, headerNames, settings, nowMs, origin, tenant } = context;
  // Rounded up to whole seconds, as the reference implementation writes them.
  const endMs = Math.ceil((nowMs + settings.linkLifetimeSeconds * 1000) / 1000) * 1000;
  const expire = new Date(endMs).toISOString();
  const tenantId = !tenant || tenant.isFirst ? '' : tenant.id;
  const signature = linkSigner.sign({ path, expire, tenantId });
  // Concatenated by hand: URLSearchParams would cost more than all the rest of the link.
  const device = deviceId === '' ? '' : `&device_id=${deviceId}`;
  const query = `${headerNames.linkExpire}=${encodeURIComponent(expire)}&${headerNames.linkSignature}=${signature}${device}&tenant_id=${tenantId}`;
  return { uri: `${origin}${path}?${query}`, expire };
}

/** Returns a link to an artifact's file, for the calling device or for a user. */
export function artifactLink(
  context: Parameters<typeof makeLink>[0] &
    Pick<HandlerContext, 'storageOrigin'> & { readonly device?: CallingDevice },
  id: string,
): ExpiringLink {
  const path = pathOf(storageOperations['download-artifact'], { id });
  const { linkSigner, headerNames, settings, nowMs, tenant, storageOrigin: origin } = context;
  const linked = { linkSigner, headerNames, settings, nowMs, origin, ...(tenant && { tenant }) };
  return makeLink(linked, path, context.device?.id);
}

/** Checks the signed query of a request; returns undefined when it is valid. */
export function checkLink(
  services: Pick<Services, 'linkSigner' | 'headerNames'>,
  { path, search, nowMs }: { path: string; search: URLSearchParams; nowMs: number },
): Refusal | undefined {
  const { linkExpire, linkSignature } = services.headerNames;
  const parameters = v.safeParse(linkQuery, {
    expire: search.get(linkExpire) ?? undefined,
    signature: search.get(linkSignature) ?? undefined,
    tenant_id: search.get('tenant_id') ?? undefined,
  });
  if (!parameters.success) {
    const names = { expire: linkExpire, signature: linkSignature };
    const [issue] = parameters.issues;
    const detail = { ...shapeDetail('query', issue, { schema: linkQuery, names }), rule: linkRule };
    return refuse.malformed(`query: ${problemOf(issue, { names })}`, detail);
  }
  const { expire, signature, tenant_id: tenantId } = parameters.output;
  if (!services.linkSigner.verifies({ path, expire, tenantId }, signature)) {
    return refuse.forbidden(
      `the link's ${linkSignature} is wrong; use the link exactly as received`,
      {
        path: `query.${linkSignature}`,
        expected: `the signature issued for this path and ${linkExpire}`,
        actual: 'another signature, or one for another path, expiry or tenant',
        rule: linkRule,
        requirement: 'download.invalid-signature-is-403',
      },
    );
  }
  if (Date.parse(expire) <= nowMs) {
    return refuse.forbidden(`the link expired at ${expire}; request a new one`, {
      path: `query.${linkExpire}`,
      expected: `a time after ${new Date(nowMs).toISOString()}`,
      actual: expire,
      rule: linkRule,
      requirement: 'download.expired-is-403',
    });
  }
  return undefined;
}

function firstOf(header: string | string[] | undefined): string | undefined {
  const value = Array.isArray(header) ? header[0] : header;
  return value?.split(',')[0]?.trim();
}
