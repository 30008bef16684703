/** Defects in what authentication requests leave behind, and in how identities are compared. */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { membersOf } from '../../target/json-members.ts';
import { changedJson, isSuccess, objectOf, ownResponse } from '../alter.ts';
import { dropRequests, responseBecomes, statusBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, ProxiedResponse } from '../defect.ts';
import { isRightlySigned } from './authentication-request.ts';

const request = ['post-auth-request'] as const;
const shown = ['list-devices', 'get-device'] as const;

/** Characters of a PEM public key that no RSA key of 2048 bits has. */
const LONG_KEY_CHARACTERS = 600;

type Device = Readonly<Record<string, unknown>>;

/** Returns the identity in a request; undefined when there is none. */
function identityOf(sent: ProxiedRequest): Device | undefined {
  const { id_data: text } = objectOf(sent);
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
  noted: (sent: ProxiedRequest, response: ProxiedResponse) => boolean,
  change: (device: Device, sent: ProxiedRequest) => Device,
): () => Alteration {
  return () => {
    const seen = new Map<string, ProxiedRequest>();
    const changed = (device: unknown): Device => {
      const sent = seen.get(serialOf(membersOf(device).identity_data));
      return sent ? change(membersOf(device), sent) : membersOf(device);
    };
    return {
      response: (response, sent) => {
        if (sent.operation === 'post-auth-request') {
          const identity = identityOf(sent);
          if (identity && noted(sent, response)) seen.set(serialOf(identity), sent);
          return response;
        }
        if (!isSuccess(response)) return response;
        return changedJson(response, (body) =>
          Array.isArray(body) ? body.map(changed) : changed(body),
        );
      },
    };
  };
}

/** Shows users a device for each refused request of an identity that is not recorded. */
function recordsRefused(status: number): () => Alteration {
  return () => {
    const refused = new Map<string, Device>();
    return {
      response: (response, sent) => {
        if (sent.operation === 'post-auth-request') {
          const identity = identityOf(sent);
          const isNoted = response.status === status && !isRightlySigned(sent);
          if (identity && isNoted) refused.set(serialOf(identity), identity);
          return response;
        }
        if (!isSuccess(response) || refused.size === 0) return response;
        return changedJson(response, (body) => {
          if (!Array.isArray(body)) return body;
          const known = body.map((device) => serialOf(membersOf(device).identity_data));
          const added = [...refused].filter(([serial]) => !known.includes(serial));
          const devices = added.map(([, identity_data]) => ({
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
  appliesTo: (sent: ProxiedRequest, response: ProxiedResponse) => boolean,
): () => Alteration {
  return () => {
    const due = new Set<string>();
    return {
      response: (response, sent) => {
        const serial = serialOf(identityOf(sent));
        if (appliesTo(sent, response)) due.add(serial);
        else if (response.status === 200 && due.delete(serial)) {
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
      response: (response, sent) => {
        const identity = identityOf(sent);
        const own = serialOf(identity);
        const serial = normalize(membersOf(identity).serial);
        const device = `${String(serial)} ${String(objectOf(sent).pubkey)}`;
        if (response.status === 200) grants.set(device, { own, response });
        const grant = grants.get(device);
        const isOther = response.status === 401 && grant !== undefined && grant.own !== own;
        return isOther && isRightlySigned(sent) ? grant.response : response;
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
  const open = new Map<string, number>();
  return {
    needsOverlap: true,
    request: (sent) => {
      const serial = serialOf(identityOf(sent));
      const others = open.get(serial) ?? 0;
      if (others > 0) {
        return ownResponse(401, { error: 'dev auth: unauthorized', request_id: 'defect' });
      }
      open.set(serial, 1);
      return sent;
    },
    response: (response, sent) => {
      open.delete(serialOf(identityOf(sent)));
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
    operations: [...request, ...shown],
    alter: devicesBecome(
      (sent, { status }) => status === 401 && !isRightlySigned(sent),
      (device, sent) => {
        const { pubkey } = objectOf(sent);
        const sets = authSetsOf(device);
        if (sets.some((set) => set.pubkey === pubkey)) return device;
        const added = { id: '00000000-0000-4000-8000-00000000beef', pubkey, status: 'pending' };
        return { ...device, auth_sets: [...sets, added] };
      },
    ),
  },
  {
    id: 'bad-signature-suspends-the-device',
    title: 'A request whose signature does not verify makes the next one of the device fail.',
    violates: ['auth.refused-changes-nothing', 'tokens.renewal'],
    operations: request,
    alter: refusesAfter(
      (sent, { status }) =>
        status === 401 && !isRightlySigned(sent) && objectOf(sent).pubkey !== undefined,
    ),
  },
  {
    id: 'new-key-suspends-the-device',
    title: 'A request with a new key makes the next one by the accepted key fail.',
    violates: ['auth.decision-stays', 'auth.accepted-gets-token', 'tokens.renewal'],
    operations: request,
    alter: refusesAfter((sent, { status }) => status === 401 && isRightlySigned(sent)),
  },
  {
    id: 'rejected-device-waits-again',
    title: 'A rejected device that authenticates again is pending.',
    violates: ['auth.decision-stays', 'auth.refused-changes-nothing'],
    operations: [...request, ...shown],
    alter: devicesBecome(
      (sent, { status }) => status === 401 && isRightlySigned(sent),
      (device) => {
        const pending = (status: unknown) => (status === 'rejected' ? 'pending' : status);
        const auth_sets = authSetsOf(device).map((set) => ({
          ...set,
          status: pending(set.status),
        }));
        return { ...device, status: pending(device.status), auth_sets };
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
        response: (response, sent) => {
          if (response.status !== 200) return response;
          const [serial, { pubkey }] = [serialOf(identityOf(sent)), objectOf(sent)];
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
      const rejected = new Set<unknown>();
      return {
        request: (sent) => {
          const { aid } = sent.parameters;
          if (objectOf(sent).status !== 'rejected') return sent;
          if (rejected.has(aid)) return ownResponse(204);
          rejected.add(aid);
          return sent;
        },
      };
    },
  },
  {
    id: 'decision-that-is-taken-back-stays',
    title: 'A device whose acceptance a user takes back stays accepted.',
    violates: ['auth.undecided-is-401'],
    operations: ['set-auth-set-status'],
    alter: dropRequests(204, (sent) => objectOf(sent).status === 'pending'),
  },
  {
    id: 'first-contact-with-external-id-is-lost',
    title: 'The first contact of a device that names an external_id is not recorded.',
    violates: ['auth.first-contact-is-recorded'],
    operations: ['post-auth-request', 'preauthorize-device'],
    alter: () => {
      const known = new Set<string>();
      return {
        request: (sent) => {
          const { external_id: externalId, identity_data: preauthorized } = objectOf(sent);
          const serial = serialOf(membersOf(preauthorized ?? identityOf(sent)));
          const isFirst = !known.has(serial);
          known.add(serial);
          if (preauthorized !== undefined || !isFirst || typeof externalId !== 'string')
            return sent;
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
      const granted = new Map<
        string,
        { readonly key: string; readonly response: ProxiedResponse }
      >();
      const refused = new Set<string>();
      return {
        response: (response, sent) => {
          const serial = serialOf(identityOf(sent));
          const key = String(objectOf(sent).pubkey).replaceAll(/\s/g, '');
          if (response.status === 200) granted.set(serial, { key, response });
          const before = granted.get(serial);
          if (response.status !== 401 || !before || before.key === key) return response;
          const isSecond = refused.has(`${serial} ${key}`);
          refused.add(`${serial} ${key}`);
          return isSecond && isRightlySigned(sent) ? before.response : response;
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
      (sent) => String(objectOf(sent).pubkey).length > LONG_KEY_CHARACTERS,
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
  const joined = members.map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join() : value,
  ]);
  return { ...device, identity_data: Object.fromEntries(joined) };
}
