/** Defects in what authentication requests leave behind, and in how identities are compared. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { membersOf } from '../../target/json-members.ts';
import { changedJson, isSuccess, objectOf, ownResponse } from '../alter.ts';
import { dropRequests, responseBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { isRightlySigned } from './authentication-request.ts';

const request = ['post-auth-request'] as const;
const deviceReads = ['list-devices', 'get-device'] as const;

/** Characters of a PEM public key that no RSA key of 2048 bits has. */
const LONG_KEY_CHARACTERS = 600;

type Device = Readonly<Record<string, unknown>>;

/** Returns the identity in a request; undefined when there is none. */
function identityOf(request: ProxiedRequest): Device | undefined {
  const { id_data: text } = objectOf(request);
  try {
    return typeof text === 'string' ? membersOf(JSON.parse(text)) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the serial number of an identity, by which a proxy recognizes the suite's devices. */
function serialOf(identity: unknown): string {
  return JSON.stringify(membersOf(identity).serial ?? '');
}

/** Changes the devices that users are shown, by what earlier authentication requests were. */
function devicesBecome(
  noted: (request: ProxiedRequest, response: ProxiedResponse) => boolean,
  change: (device: Device, request: ProxiedRequest) => Device,
): () => Alteration {
  return () => {
    const requestsBySerial = new Map<string, ProxiedRequest>();
    const changeDevice = (device: unknown): Device => {
      const request = requestsBySerial.get(serialOf(membersOf(device).identity_data));
      return request ? change(membersOf(device), request) : membersOf(device);
    };
    return {
      response: (response, request) => {
        if (request.operation === 'post-auth-request') {
          const identity = identityOf(request);
          if (identity && noted(request, response))
            requestsBySerial.set(serialOf(identity), request);
          return response;
        }
        if (!isSuccess(response)) return response;
        return changedJson(response, (body) =>
          Array.isArray(body) ? body.map(changeDevice) : changeDevice(body),
        );
      },
    };
  };
}

/** Shows users a device for each refused request of an identity that is not recorded. */
function recordsRefused(status: number): () => Alteration {
  return () => {
    const refusedDevices = new Map<string, Device>();
    return {
      response: (response, request) => {
        if (request.operation === 'post-auth-request') {
          const identity = identityOf(request);
          const isNoted = response.status === status && !isRightlySigned(request);
          if (identity && isNoted) refusedDevices.set(serialOf(identity), identity);
          return response;
        }
        if (!isSuccess(response) || refusedDevices.size === 0) return response;
        return changedJson(response, (body) => {
          if (!Array.isArray(body)) return body;
          const shownSerials = body.map((device) => serialOf(membersOf(device).identity_data));
          const missingDevices = [...refusedDevices].filter(
            ([serial]) => !shownSerials.includes(serial),
          );
          const devices = missingDevices.map(([, identity_data]) => ({
            id: '00000000-0000-4000-8000-00000000dead',
            identity_data,
            status: 'pending',
            auth_sets: [],
          }));
          return [...body, ...devices];
        });
      },
    };
  };
}

function authSetsOf({ auth_sets }: Device): readonly Device[] {
  return Array.isArray(auth_sets) ? auth_sets.map(membersOf) : [];
}

/** Refuses a device once after a request that `appliesTo` matches, although its key is accepted. */
function refusesAfter(
  appliesTo: (request: ProxiedRequest, response: ProxiedResponse) => boolean,
): () => Alteration {
  return () => {
    const dueSerials = new Set<string>();
    return {
      response: (response, request) => {
        const serial = serialOf(identityOf(request));
        if (appliesTo(request, response)) dueSerials.add(serial);
        else if (response.status === 200 && dueSerials.delete(serial)) {
          return ownResponse(401, { error: 'dev auth: unauthorized', request_id: 'defect' });
        }
        return response;
      },
    };
  };
}

/** Grants the token of a device to other identities with its key that `normalize` makes equal. */
function comparesAs(normalize: (serial: unknown) => unknown): () => Alteration {
  return () => {
    const grants = new Map<string, { readonly own: string; readonly response: ProxiedResponse }>();
    return {
      response: (response, request) => {
        const identity = identityOf(request);
        const ownSerial = serialOf(identity);
        const serial = normalize(membersOf(identity).serial);
        const device = `${String(serial)} ${String(objectOf(request).pubkey)}`;
        if (response.status === 200) grants.set(device, { own: ownSerial, response });
        const grant = grants.get(device);
        const isOther = response.status === 401 && grant !== undefined && grant.own !== ownSerial;
        return isOther && isRightlySigned(request) ? grant.response : response;
      },
    };
  };
}

function asText(normalize: (text: string) => string): (serial: unknown) => unknown {
  return (serial) => (typeof serial === 'string' ? normalize(serial) : typeof serial);
}

const another: readonly [RequirementId, ...RequirementId[]] = [
  'auth.first-contact-is-401',
  'auth.identity-is-the-content',
];

const comparisons: readonly Defect[] = [
  {
    id: 'identities-are-trimmed',
    title: 'Identities that differ by a space at the end are those of one device.',
    violates: another,
    operations: request,
    alter: comparesAs(asText((text) => text.trim())),
  },
  {
    id: 'identities-are-composed',
    title: 'Identities with a combining accent and a composed letter are those of one device.',
    violates: another,
    operations: request,
    alter: comparesAs(asText((text) => text.normalize('NFC'))),
  },
  {
    id: 'identities-are-in-small-letters',
    title: 'Identities in another letter case are those of one device.',
    violates: another,
    operations: request,
    alter: comparesAs(asText((text) => text.toLowerCase())),
  },
  {
    id: 'identities-are-cut',
    title: 'Identities are compared by the first nineteen letters of the serial number.',
    violates: another,
    operations: request,
    alter: comparesAs(asText((text) => text.slice(0, 19))),
  },
];

/** Refuses a request that arrives while another of the same identity is answered. */
function oneAtATime(): Alteration {
  const openCounts = new Map<string, number>();
  return {
    needsOverlap: true,
    request: (request) => {
      const serial = serialOf(identityOf(request));
      const openRequests = openCounts.get(serial) ?? 0;
      if (openRequests > 0) {
        return ownResponse(401, { error: 'dev auth: unauthorized', request_id: 'defect' });
      }
      openCounts.set(serial, 1);
      return request;
    },
    response: (response, request) => {
      openCounts.delete(serialOf(identityOf(request)));
      return response;
    },
  };
}

export const authenticationEffectDefects: readonly Defect[] = [
  ...comparisons,
  {
    id: 'device-with-a-bad-signature-is-recorded',
    title: 'A first request whose signature does not verify records the device.',
    violates: ['auth.refused-changes-nothing'],
    operations: [...request, 'list-devices'],
    alter: recordsRefused(401),
  },
  {
    id: 'device-of-a-malformed-request-is-recorded',
    title: 'A first request that is malformed records the device.',
    violates: ['auth.refused-changes-nothing'],
    operations: [...request, 'list-devices'],
    alter: recordsRefused(400),
  },
  {
    id: 'key-with-a-bad-signature-is-recorded',
    title: 'A request with another key whose signature does not verify records the key.',
    violates: ['auth.refused-changes-nothing'],
    operations: [...request, ...deviceReads],
    alter: devicesBecome(
      (request, { status }) => status === 401 && !isRightlySigned(request),
      (device, request) => {
        const { pubkey } = objectOf(request);
        const sets = authSetsOf(device);
        if (sets.some((set) => set.pubkey === pubkey)) return device;
        const addedSet = { id: '00000000-0000-4000-8000-00000000beef', pubkey, status: 'pending' };
        return { ...device, auth_sets: [...sets, addedSet] };
      },
    ),
  },
  {
    id: 'bad-signature-suspends-the-device',
    title: 'A request whose signature does not verify makes the next one of the device fail.',
    violates: ['auth.refused-changes-nothing', 'tokens.renewal'],
    operations: request,
    alter: refusesAfter(
      (request, { status }) =>
        status === 401 && !isRightlySigned(request) && objectOf(request).pubkey !== undefined,
    ),
  },
  {
    id: 'new-key-suspends-the-device',
    title: 'A request with a new key makes the next one by the accepted key fail.',
    violates: ['auth.decision-stays', 'auth.accepted-gets-token', 'tokens.renewal'],
    operations: request,
    alter: refusesAfter((request, { status }) => status === 401 && isRightlySigned(request)),
  },
  {
    id: 'rejected-device-waits-again',
    title: 'A rejected device that authenticates again is pending.',
    violates: ['auth.decision-stays', 'auth.refused-changes-nothing'],
    operations: [...request, ...deviceReads],
    alter: devicesBecome(
      (request, { status }) => status === 401 && isRightlySigned(request),
      (device) => {
        const pendingStatus = (status: unknown) => (status === 'rejected' ? 'pending' : status);
        const auth_sets = authSetsOf(device).map((set) => ({
          ...set,
          status: pendingStatus(set.status),
        }));
        return { ...device, status: pendingStatus(device.status), auth_sets };
      },
    ),
  },
  {
    id: 'requests-of-one-device-exclude-each-other',
    title: 'A request that arrives during another one of the same identity is answered with 401.',
    violates: [
      'tokens.renewal',
      'auth.preauthorized-gets-token',
      'auth.one-identity-one-device',
      'auth.new-key-waits',
    ],
    operations: request,
    alter: oneAtATime,
  },
  {
    id: 'accepted-second-key-is-refused',
    title: 'A second key of a device is refused even after a user accepts it.',
    violates: ['auth.accepted-gets-token'],
    operations: request,
    alter: () => {
      const firstKeys = new Map<string, unknown>();
      return {
        response: (response, request) => {
          if (response.status !== 200) return response;
          const [serial, { pubkey }] = [serialOf(identityOf(request)), objectOf(request)];
          // The same key may be written in another encoding.
          const key = String(pubkey).replaceAll(/\s/g, '');
          if (!firstKeys.has(serial)) firstKeys.set(serial, key);
          if (firstKeys.get(serial) === key) return response;
          return ownResponse(401, { error: 'dev auth: unauthorized', request_id: 'defect' });
        },
      };
    },
  },
  {
    id: 'second-rejection-has-no-effect',
    title: 'A device that is rejected for the second time stays accepted.',
    violates: ['auth.rejected-is-refused', 'audit.one-entry-per-action'],
    operations: ['set-auth-set-status'],
    alter: () => {
      const rejectedIds = new Set<unknown>();
      return {
        request: (request) => {
          const { aid } = request.parameters;
          if (objectOf(request).status !== 'rejected') return request;
          if (rejectedIds.has(aid)) return ownResponse(204);
          rejectedIds.add(aid);
          return request;
        },
      };
    },
  },
  {
    id: 'decision-that-is-taken-back-stays',
    title: 'A device whose acceptance a user takes back stays accepted.',
    violates: ['auth.undecided-is-401'],
    operations: ['set-auth-set-status'],
    alter: dropRequests(204, (request) => objectOf(request).status === 'pending'),
  },
  {
    id: 'first-contact-with-external-id-is-lost',
    title: 'The first contact of a device that names an external_id is not recorded.',
    violates: ['auth.first-contact-is-recorded'],
    operations: ['post-auth-request', 'preauthorize-device'],
    alter: () => {
      const externalIds = new Set<string>();
      return {
        request: (request) => {
          const { external_id: externalId, identity_data: preauthorized } = objectOf(request);
          const serial = serialOf(membersOf(preauthorized ?? identityOf(request)));
          const isFirst = !externalIds.has(serial);
          externalIds.add(serial);
          if (preauthorized !== undefined || !isFirst || typeof externalId !== 'string')
            return request;
          return ownResponse(401, { error: 'dev auth: unauthorized', request_id: 'defect' });
        },
      };
    },
  },
  {
    id: 'new-key-is-granted-a-token-later',
    title: 'A new key of an accepted device is granted a token at its second request.',
    violates: ['auth.new-key-waits', 'auth.decision-stays'],
    operations: request,
    alter: () => {
      const grants = new Map<
        string,
        { readonly key: string; readonly response: ProxiedResponse }
      >();
      const refusedKeys = new Set<string>();
      return {
        response: (response, request) => {
          const serial = serialOf(identityOf(request));
          const key = String(objectOf(request).pubkey).replaceAll(/\s/g, '');
          if (response.status === 200) grants.set(serial, { key, response });
          const grant = grants.get(serial);
          if (response.status !== 401 || !grant || grant.key === key) return response;
          const isSecond = refusedKeys.has(`${serial} ${key}`);
          refusedKeys.add(`${serial} ${key}`);
          return isSecond && isRightlySigned(request) ? grant.response : response;
        },
      };
    },
  },
  {
    id: 'long-rsa-key-is-malformed',
    title:
      'The first contact of a device with an RSA key of more than 2048 bits is answered with 400.',
    violates: ['auth.rsa'],
    operations: request,
    alter: statusBecomes(
      401,
      400,
      (request) => String(objectOf(request).pubkey).length > LONG_KEY_CHARACTERS,
    ),
  },
  {
    id: 'lists-in-identities-are-joined',
    title: 'Users see a list in the identity of a device as a string.',
    violates: ['auth.first-contact-is-recorded'],
    operations: ['list-devices'],
    alter: responseBecomes((response) =>
      isSuccess(response)
        ? changedJson(response, (body) =>
            Array.isArray(body) ? body.map(membersOf).map(withJoinedLists) : body,
          )
        : response,
    ),
  },
];

function withJoinedLists(device: Device): Device {
  const members = Object.entries(membersOf(device.identity_data));
  const joinedMembers = members.map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join() : value,
  ]);
  return { ...device, identity_data: Object.fromEntries(joinedMembers) };
}
