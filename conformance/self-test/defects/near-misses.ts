/**
 * Subtle defects of servers that look good: they ignore an edit, an empty list, or the
 * difference between capital and small letters.
 */
import { isObject } from '../../../fixtures/base/json.ts';
import {
  changedAt,
  changedJson,
  isSuccess,
  jsonOf,
  listOf,
  objectOf,
  queryOf,
  tokenOf,
  withJson,
  withQuery,
} from '../alter.ts';
import { bodyBecomes, dropRequests, requestBecomes, responseBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { offeredLink } from './near-misses-links.ts';

const showing = ['get-artifact', 'list-artifacts'] as const;

/** Changes each artifact in a response, in a list or alone. */
function artifactsBecome(change: (artifact: unknown) => unknown) {
  return (body: unknown): unknown => (Array.isArray(body) ? body.map(change) : change(body));
}

/** Returns a member of an artifact always with its first value, even after an edit. */
function staysAsFirstShown(member: string): () => Alteration {
  return () => {
    const firstValues = new Map<string, unknown>();
    return bodyBecomes(
      artifactsBecome((artifact) => {
        if (!isObject(artifact)) return artifact;
        const id = String(artifact.id);
        if (!firstValues.has(id)) firstValues.set(id, artifact[member]);
        return changedAt(artifact, member, () => firstValues.get(id));
      }),
    )();
  };
}

const artifacts: readonly Defect[] = [
  {
    id: 'edit-does-not-move-modified',
    title: '`modified` of an artifact is always the time of its upload.',
    violates: ['artifacts.modified'],
    operations: showing,
    alter: staysAsFirstShown('modified'),
  },
  {
    id: 'modified-is-the-time-of-the-response',
    title: '`modified` of an artifact is the time at which it is shown.',
    violates: ['artifacts.modified'],
    operations: showing,
    alter: responseBecomes((response) => {
      const responseTime = new Date(response.headers.date ?? '').toISOString();
      const moved = artifactsBecome((artifact) =>
        changedAt(artifact, 'modified', () => responseTime),
      );
      return isSuccess(response) ? changedJson(response, moved) : response;
    }),
  },
  {
    id: 'list-does-not-move-modified',
    title: 'In a list, `modified` of an artifact is the start of its day.',
    violates: ['artifacts.modified'],
    operations: ['list-artifacts'],
    alter: bodyBecomes((body) =>
      changedAt(body, '*.modified', (time) => `${String(time).slice(0, 10)}T00:00:00Z`),
    ),
  },
  {
    id: 'edit-is-not-shown-in-lists',
    title: 'In a list, an artifact has the description of its upload.',
    violates: ['artifacts.edit-is-shown'],
    operations: ['list-artifacts'],
    alter: bodyBecomes((body) => changedAt(body, '*.description', () => 'uploaded')),
  },
  {
    id: 'depends-are-shown-as-a-string',
    title: 'A dependency on one value is shown as a string.',
    violates: ['artifacts.depends'],
    operations: showing,
    alter: bodyBecomes(
      artifactsBecome((artifact) =>
        changedAt(artifact, 'artifact_depends.flavour', (values) =>
          Array.isArray(values) ? values[0] : values,
        ),
      ),
    ),
  },
  {
    id: 'depends-are-shown-by-letters',
    title: 'A dependency that the file gives as a string is shown as an array of its letters.',
    violates: ['artifacts.depends'],
    operations: showing,
    alter: bodyBecomes(
      artifactsBecome((artifact) =>
        changedAt(artifact, 'artifact_depends.flavour', (values) =>
          Array.isArray(values) ? [...String(values[0])] : values,
        ),
      ),
    ),
  },
];

const polls = ['post-next-deployment', 'post-next-deployment-v2'] as const;

/** Changes the `flavour` that a device provides, as a server does that compares loosely. */
function flavourBecomes(change: (flavour: string) => string): () => Alteration {
  const changeText = (value: unknown): unknown =>
    typeof value === 'string' ? change(value) : value;
  return requestBecomes((request) => {
    if (jsonOf(request) === undefined) return request;
    const outer = changedJson(request, (body) => changedAt(body, 'flavour', changeText));
    return changedJson(outer, (body) => changedAt(body, 'device_provides.flavour', changeText));
  });
}

const comparisonDefects: readonly Defect[] = [
  ...polls.map(
    (operation): Defect => ({
      id: `${operation}-compares-depends-without-regard-to-case`,
      title: `The operation ${operation} compares dependencies case-insensitively.`,
      violates: ['next.depends', 'next.v2-depends'],
      operations: [operation],
      alter: flavourBecomes((flavour) =>
        flavour.toLowerCase() === 'vanilla-ab' ? 'Vanilla-aB' : flavour,
      ),
    }),
  ),
  {
    id: 'depends-are-met-by-a-part',
    title: 'A dependency that the file gives as a string is met by any part of it.',
    violates: ['next.depends'],
    operations: ['post-next-deployment'],
    alter: flavourBecomes((flavour) => ('vanilla'.includes(flavour) ? 'vanilla' : flavour)),
  },
  {
    id: 'depends-of-a-string-are-never-met',
    title: 'A dependency that the file gives as a string is met by no device.',
    violates: ['next.depends'],
    operations: ['post-next-deployment'],
    alter: flavourBecomes((flavour) => (flavour === 'vanilla' ? 'another' : flavour)),
  },
];

function isEmptyList(request: ProxiedRequest): boolean {
  return request.body.toString().trim() === '[]';
}

/** Keeps the old description when a PUT sends an attribute without a description. */
function keepsDescriptions(): Alteration {
  const valuesByName = new Map<string, unknown>();
  return {
    request: (request) => {
      const attributes = listOf(request).map((attribute) => {
        if (!isObject(attribute)) return attribute;
        const key = `${tokenOf(request)} ${attribute.name}`;
        if (attribute.description !== undefined) valuesByName.set(key, attribute.description);
        const description = valuesByName.get(key);
        return description === undefined ? attribute : { ...attribute, description };
      });
      return attributes.length > 0 ? withJson(request, attributes) : request;
    },
  };
}

const emptied: readonly Defect[] = [
  {
    id: 'empty-put-changes-nothing',
    title: 'PUT of an empty array of attributes changes nothing.',
    violates: ['inventory.empty-put-clears', 'tokens.kinds-are-apart', 'errors.unexpected-is-500'],
    operations: ['put-attributes'],
    alter: dropRequests(200, isEmptyList),
  },
  {
    id: 'empty-patch-clears',
    title: 'PATCH of an empty array of attributes removes them all.',
    violates: ['inventory.patch-keeps', 'errors.unexpected-is-500'],
    operations: ['patch-attributes'],
    alter: requestBecomes((request) => ({ ...request, method: 'PUT' }), isEmptyList),
  },
  {
    id: 'put-keeps-descriptions',
    title: 'PUT of an attribute without a description keeps the earlier one.',
    violates: ['inventory.put-replaces-descriptions'],
    operations: ['put-attributes'],
    alter: keepsDescriptions,
  },
  {
    id: 'empty-monitor-configuration-changes-nothing',
    title: 'An empty monitor configuration keeps the earlier one.',
    violates: ['monitor.empty-is-current', 'tokens.kinds-are-apart', 'errors.unexpected-is-500'],
    operations: ['post-monitor-configuration'],
    alter: dropRequests(204, isEmptyList),
  },
];

/** Turns a response into the grant of a token, although the request should be refused. */
function grantResponse(response: ProxiedResponse): ProxiedResponse {
  return { ...response, status: 200, body: Buffer.from('e30.e30.e30') };
}

function signatureOf({ headers }: ProxiedRequest): string {
  const name = Object.keys(headers).find((each) => each.endsWith('-signature'));
  return headers[name ?? ''] ?? '';
}

/** Compares identities case-insensitively. */
function knowsIdentitiesInAnyCase(): Alteration {
  const identities = new Set<string>();
  return {
    response: (response, request) => {
      const identity = String(objectOf(request).id_data);
      if (response.status === 200) identities.add(identity.toLowerCase());
      const isKnown = identities.has(identity.toLowerCase()) && identity.includes('sERIAL');
      return response.status === 401 && isKnown ? grantResponse(response) : response;
    },
  };
}

/** Compares the signature of a link case-insensitively. */
function knowsSignaturesInAnyCase(): Alteration {
  const valuesByParameter = new Map<string, string>();
  return {
    request: (request) => {
      for (const [name, value] of queryOf(request)) {
        const original = valuesByParameter.get(value.toLowerCase());
        if (name.endsWith('-signature') && original)
          return withQuery(request, { [name]: original });
      }
      return request;
    },
    response: (response) => {
      const link = offeredLink(response);
      for (const [name, value] of link?.searchParams ?? []) {
        if (name.endsWith('-signature')) valuesByParameter.set(value.toLowerCase(), value);
      }
      return response;
    },
  };
}

const letters: readonly Defect[] = [
  {
    id: 'signatures-are-read-in-any-case',
    title: 'A signature whose Base64 is all in small or all in capital letters is accepted.',
    violates: [
      'auth.signature-must-verify',
      'auth.bad-signature-is-401',
      'auth.rsa-base64',
      'auth.ecdsa-base64',
      'auth.ed25519-base64',
    ],
    operations: ['post-auth-request'],
    alter: responseBecomes((response, request) => {
      const signature = signatureOf(request);
      const isSingleCase = [signature.toLowerCase(), signature.toUpperCase()].includes(signature);
      return isSingleCase && signature.length > 60 && response.status === 401
        ? grantResponse(response)
        : response;
    }),
  },
  {
    id: 'identities-are-known-in-any-case',
    title: 'An identity in another letter case is treated as that of a known device.',
    violates: ['auth.first-contact-is-401', 'auth.identity-is-the-content'],
    operations: ['post-auth-request'],
    alter: knowsIdentitiesInAnyCase,
  },
  {
    id: 'attributes-are-named-without-regard-to-case',
    title: 'The names of attributes are written in small letters.',
    violates: ['inventory.patch-adds'],
    operations: ['patch-attributes'],
    alter: requestBecomes((request) =>
      changedJson(request, (body) =>
        changedAt(body, '*.name', (name) =>
          name === 'Probe' || name === 'PROBE' ? 'probe' : name,
        ),
      ),
    ),
  },
  {
    id: 'settings-are-named-without-regard-to-case',
    title: 'The keys of a configuration are written in small letters.',
    violates: ['configuration.any-name'],
    operations: ['put-configuration'],
    alter: requestBecomes((request) => {
      const { Probe, ...kept } = objectOf(request);
      return Probe === undefined ? request : withJson(request, { ...kept, probe: Probe });
    }),
  },
  {
    id: 'configuration-links-are-verified-in-any-case',
    title: 'The signature of a link to a configuration is compared case-insensitively.',
    violates: ['download.invalid-signature-is-403'],
    operations: ['get-next-deployment', 'download-configuration'],
    alter: knowsSignaturesInAnyCase,
  },
  {
    id: 'configuration-links-take-device-types-in-any-case',
    title: 'The device type in a link to a configuration is compared case-insensitively.',
    violates: ['download.signature-covers-path'],
    operations: ['download-configuration'],
    alter: requestBecomes((request) => ({
      ...request,
      path: request.path.replace('/CONFORMANCE-BOARD/', '/conformance-board/'),
    })),
  },
];

/** Spec: Resources and their fields; Endpoints */
export const nearMissDefects: readonly Defect[] = [
  ...artifacts,
  ...comparisonDefects,
  ...emptied,
  ...letters,
];
