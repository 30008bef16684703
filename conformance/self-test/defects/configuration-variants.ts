/** Defects in particular pairs, and in requests that set and remove pairs together. */
import { writeArtifact } from '../../../fixtures/formats/mender-artifact.ts';
import { pairsIn } from '../../target/configuration-body.ts';
import { objectOf, withJson } from '../alter.ts';
import { requestBecomes, responseBecomes } from '../alterations.ts';
import type { Alteration, Defect } from '../defect.ts';
import { callerOf } from '../own-deployment.ts';
import { pairsBecome, setsPairs } from './configuration.ts';

const putOnly = ['put-configuration'] as const;

type Pair = readonly [name: string, value: unknown];

/** Changes the pairs of requests that both set and remove keys. */
function mixedBecome(change: (pairs: readonly Pair[]) => readonly Pair[]): () => Alteration {
  return requestBecomes((request) => {
    if (!setsPairs(request)) return request;
    const pairs = Object.entries(objectOf(request));
    const removals = pairs.filter(([, value]) => value === '').length;
    const isMixed = removals > 0 && removals < pairs.length;
    return isMixed ? withJson(request, Object.fromEntries(change(pairs))) : request;
  });
}

function isRemoval([, value]: Pair): boolean {
  return value === '';
}

/** Lets a device change no key that a user has configured. */
function userWins(): Alteration {
  const keysByDevice = new Map<string, Set<string>>();
  return {
    request: (request) => {
      const { id } = request.parameters;
      if (id !== undefined) {
        keysByDevice.set(id, new Set(Object.keys(objectOf(request))));
        return request;
      }
      const fixed = keysByDevice.get(callerOf(request));
      if (!fixed || !setsPairs(request)) return request;
      const freePairs = Object.entries(objectOf(request)).filter(([name]) => !fixed.has(name));
      return withJson(request, Object.fromEntries(freePairs));
    },
  };
}

/** Defects in the configuration store, and in its download. */
export const configurationVariantDefects: readonly Defect[] = [
  {
    id: 'configuration-removal-beside-a-setting-is-lost',
    title: 'A request that also sets pairs removes none.',
    violates: ['configuration.empty-removes'],
    operations: putOnly,
    alter: mixedBecome((pairs) => pairs.filter((pair) => !isRemoval(pair))),
  },
  {
    id: 'configuration-setting-after-a-removal-is-lost',
    title: 'Of a request that also removes a key, the pairs after the removal are not set.',
    violates: [
      'configuration.written-is-read',
      'configuration.update',
      'configuration.any-name',
      'configuration.any-string',
    ],
    operations: putOnly,
    alter: mixedBecome((pairs) => pairs.slice(0, pairs.findIndex(isRemoval) + 1)),
  },
  {
    id: 'configuration-removes-one-key-at-most',
    title: 'Of several keys that a request removes, only the first is removed.',
    violates: ['configuration.empty-removes'],
    operations: putOnly,
    alter: requestBecomes((request) => {
      const pairs = Object.entries(objectOf(request));
      const firstRemoval = pairs.findIndex(isRemoval);
      const keptPairs = pairs.filter((pair, index) => !isRemoval(pair) || index === firstRemoval);
      return keptPairs.length < pairs.length
        ? withJson(request, Object.fromEntries(keptPairs))
        : request;
    }, setsPairs),
  },
  {
    id: 'configuration-names-are-trimmed',
    title: 'Spaces at the end of a name are not stored.',
    violates: ['configuration.any-name', 'configuration.any-string', 'configuration.update'],
    operations: putOnly,
    alter: pairsBecome((name, value) => [[name.trimEnd(), value]]),
  },
  {
    id: 'configuration-names-are-composed',
    title: 'A name with a combining accent is stored as the one with the composed letter.',
    violates: ['configuration.any-name', 'configuration.any-string', 'configuration.update'],
    operations: putOnly,
    alter: pairsBecome((name, value) => [[name.normalize('NFC'), value]]),
  },
  {
    id: 'configuration-values-are-composed',
    title: 'A combining accent in a value is stored as a composed letter.',
    violates: ['configuration.any-string'],
    operations: putOnly,
    alter: pairsBecome((name, value) => [[name, String(value).normalize('NFC')]]),
  },
  {
    id: 'configuration-blank-values-remove',
    title: 'A value of white space removes its key.',
    violates: ['configuration.any-string', 'configuration.written-is-read', 'configuration.update'],
    operations: putOnly,
    alter: pairsBecome((name, value) => [[name, String(value).trim() === '' ? '' : value]]),
  },
  {
    id: 'configuration-of-a-user-cannot-be-changed',
    title: 'A device cannot change or remove a pair that a user has configured.',
    violates: [
      'configuration.update',
      'configuration.empty-removes',
      'configuration.written-is-read',
    ],
    operations: ['set-configuration', ...putOnly],
    alter: userWins,
  },
  {
    id: 'downloaded-configuration-is-ascii',
    title: 'The downloaded configuration has a question mark for each letter beyond ASCII.',
    violates: ['download.holds-the-pairs'],
    operations: ['download-configuration'],
    alter: responseBecomes(async (response, { parameters }) => {
      const pairs = response.status === 200 ? await pairsIn(response.body) : undefined;
      const isAscii = pairs === undefined || !/[^\0-\x7f]/.test(JSON.stringify(pairs));
      if (isAscii) return response;
      const body = await writeArtifact({
        name: 'configuration',
        deviceTypes: [parameters.device_type ?? ''],
        payloadType: 'mender-configure',
        metaData: JSON.parse(JSON.stringify(pairs).replaceAll(/[^\0-\x7f]/g, '?')),
        modifiedMs: 0,
      });
      return { ...response, body };
    }),
  },
  {
    id: 'downloaded-configuration-is-the-first-one',
    title: 'Every link returns the configuration that was downloaded first.',
    violates: ['download.holds-the-pairs'],
    operations: ['download-configuration'],
    alter: () => {
      let firstBody: Buffer | undefined;
      return {
        response: (response) => {
          if (response.status !== 200) return response;
          firstBody ??= response.body;
          return { ...response, body: firstBody };
        },
      };
    },
  },
];
