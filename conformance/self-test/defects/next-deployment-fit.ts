/** Defects in the choice of the artifact that fits a device. */
import { entriesOf, isMap, membersOf } from '../../target/json-members.ts';
import {
  changedAt,
  changedJson,
  listOf,
  objectOf,
  ownResponse,
  withJson,
  withQuery,
} from '../alter.ts';
import { responseBecomes } from '../alterations.ts';
import type { Alteration, Defect, ProxiedRequest, SendToTarget } from '../defect.ts';
import { callerOf } from '../own-deployment.ts';
import { requestFor } from '../requests.ts';
import { everyPoll, pollDataIn } from './next-deployment.ts';

type Pairs = Readonly<Record<string, unknown>>;
type Depends = Readonly<Record<string, readonly unknown[]>>;

const posting = ['post-next-deployment', 'post-next-deployment-v2'] as const;

/** Returns the request of a device that reports these pairs. */
function withPollData(request: ProxiedRequest, pairs: Pairs): ProxiedRequest {
  if (request.operation === 'get-next-deployment') {
    return withQuery(request, pairs as Readonly<Record<string, string>>);
  }
  const { device_provides: inner } = objectOf(request);
  return withJson(request, isMap(inner) ? { ...objectOf(request), device_provides: pairs } : pairs);
}

/** Changes what a device reports, given the dependencies of each artifact on the target. */
function alterProvides(
  change: (pairs: Pairs, depends: Depends) => Pairs | undefined,
): () => Alteration {
  return () => ({
    request: async (request, send) => {
      const pairs = pollDataIn(request);
      if (typeof pairs.device_type !== 'string') return request;
      for (const depends of await dependsOnTarget(send)) {
        const changedPairs = change(pairs, depends);
        if (changedPairs) return withPollData(request, changedPairs);
      }
      return request;
    },
  });
}

/** Returns the dependencies of the newest artifacts, with the device types among them. */
async function dependsOnTarget(send: SendToTarget): Promise<readonly Depends[]> {
  const listParts = { token: send.userToken, query: { per_page: '100' } };
  const listedArtifacts = listOf(await send(requestFor('list-all-artifacts', listParts))).map(
    membersOf,
  );
  return listedArtifacts.map(({ artifact_depends: depends, device_types_compatible: types }) => ({
    ...Object.fromEntries(
      Object.entries(membersOf(depends)).map(([name, values]) => [name, entriesOf(values)]),
    ),
    device_type: entriesOf(types),
  }));
}

/** Returns the names of dependencies that the suite's artifact with several of them has. */
function namesOf(depends: Depends): readonly string[] {
  const names = Object.keys(depends).filter((name) => name !== 'device_type');
  return names.length < 3 ? [] : names;
}

function isMet(depends: Depends, pairs: Pairs, name: string): boolean {
  return depends[name]?.includes(pairs[name]) ?? false;
}

/** Returns the pairs with those dependencies satisfied; undefined when they already are. */
function satisfied(pairs: Pairs, depends: Depends, names: readonly string[]): Pairs | undefined {
  const unmet = names.filter((name) => !isMet(depends, pairs, name));
  if (unmet.length === 0) return undefined;
  return { ...pairs, ...Object.fromEntries(unmet.map((name) => [name, depends[name]?.[0]])) };
}

const violates = ['next.depends', 'next.v2-depends'] as const;

export const nextDeploymentFitDefects: readonly Defect[] = [
  {
    id: 'one-met-dependency-suffices',
    title: 'An artifact is offered to a device that satisfies one of its dependencies.',
    violates,
    operations: posting,
    alter: alterProvides((pairs, depends) =>
      namesOf(depends).some((name) => isMet(depends, pairs, name))
        ? satisfied(pairs, depends, namesOf(depends))
        : undefined,
    ),
  },
  {
    id: 'absent-dependency-is-met',
    title: 'A dependency that a device says nothing about counts as satisfied.',
    violates,
    operations: posting,
    alter: alterProvides((pairs, depends) => {
      const absent = namesOf(depends).filter((name) => !(name in pairs));
      // A device that reports none of them is one of another case.
      const reportsOne = namesOf(depends).some((name) => name in pairs && name !== 'artifact_name');
      return reportsOne ? satisfied(pairs, depends, absent) : undefined;
    }),
  },
  {
    id: 'only-sixteen-pairs-count',
    title: 'Of what a device reports beside type and name, only the first sixteen pairs count.',
    violates,
    operations: posting,
    alter: alterProvides(({ device_type, artifact_name, ...others }) => {
      const pairs = Object.entries(others);
      if (pairs.length <= 16) return undefined;
      return { device_type, artifact_name, ...Object.fromEntries(pairs.slice(0, 16)) };
    }),
  },
  {
    id: 'only-first-value-of-a-dependency-counts',
    title: 'Of the values that a dependency lists, only the first one satisfies it.',
    violates,
    operations: posting,
    alter: alterProvides((pairs, depends) => {
      const nonFirstNames = namesOf(depends).filter(
        (name) => isMet(depends, pairs, name) && pairs[name] !== depends[name]?.[0],
      );
      if (nonFirstNames.length === 0) return undefined;
      return {
        ...pairs,
        ...Object.fromEntries(nonFirstNames.map((name) => [name, 'not the first'])),
      };
    }),
  },
  {
    id: 'beginning-of-a-dependency-suffices',
    title: 'The beginning of a value satisfies a dependency on that value.',
    violates,
    operations: posting,
    alter: alterProvides((pairs, depends) => {
      const prefixNames = namesOf(depends).filter((name) => {
        const statedValue = pairs[name];
        return (
          typeof statedValue === 'string' &&
          statedValue !== '' &&
          isPrefix(statedValue, depends[name])
        );
      });
      return satisfied(pairs, depends, prefixNames);
    }),
  },
  {
    id: 'joined-dependency-suffices',
    title: 'All values of a dependency, joined by commas, satisfy it.',
    violates,
    operations: posting,
    alter: alterProvides((pairs, depends) =>
      satisfied(
        pairs,
        depends,
        namesOf(depends).filter((name) => pairs[name] === depends[name]?.join(',')),
      ),
    ),
  },
  {
    id: 'any-artifact-of-the-release-is-offered',
    title: 'A device is offered an artifact of the release whose dependencies it does not satisfy.',
    violates,
    operations: posting,
    alter: alterProvides(({ flavour, ...pairs }, { flavour: values, ...others }) => {
      const isOther = flavour === 'mint' && values?.includes('vanilla') === true;
      return isOther && isMet(others, pairs, 'device_type')
        ? { ...pairs, flavour: 'vanilla' }
        : undefined;
    }),
  },
  {
    id: 'only-first-device-type-is-offered',
    title: 'Of the device types that an artifact lists, only the first one is offered it.',
    violates: ['next.get-pending-is-200', 'next.post-pending-is-200', 'next.v2-pending-is-200'],
    operations: everyPoll,
    alter: alterProvides((pairs, { device_type: types = [] }) =>
      types.indexOf(pairs.device_type) > 0 ? { ...pairs, device_type: 'not the first' } : undefined,
    ),
  },
  {
    id: 'instructions-have-the-type-of-the-device-only',
    title: 'Of the device types of an artifact, the instructions have that of the device alone.',
    violates: ['next.types-of-the-artifact'],
    operations: everyPoll,
    alter: responseBecomes((response, request) => {
      const { device_type: type } = pollDataIn(request);
      const path = 'artifact.device_types_compatible';
      return response.status === 200 && type !== undefined
        ? changedJson(response, (body) => changedAt(body, path, () => [type]))
        : response;
    }),
  },
  {
    id: 'device-type-is-a-pattern',
    title: 'The device types of an artifact are compared as patterns, in which _ and % are wild.',
    violates: ['next.compatible-types-only'],
    operations: everyPoll,
    alter: alterProvides((pairs, { device_type: types = [] }) => {
      const like = types.find((type) => isLike(String(pairs.device_type), String(type)));
      return like === undefined ? undefined : { ...pairs, device_type: like };
    }),
  },
  {
    id: 'dependencies-ignore-letter-case',
    title: 'The pairs of a device satisfy a dependency in any letter case.',
    violates,
    operations: posting,
    alter: alterProvides(({ device_type, artifact_name, ...others }, depends) => {
      if (namesOf(depends).length === 0) return undefined;
      const pairs = Object.entries(others).map(([name, value]) => [
        name.toLowerCase(),
        String(value).toLowerCase(),
      ]);
      return { device_type, artifact_name, ...Object.fromEntries(pairs) };
    }),
  },
  {
    id: 'forced-installation-ignores-the-dependencies',
    title: 'A deployment with force_installation is offered to devices that it does not fit.',
    violates: ['next.depends', 'next.compatible-types-only'],
    operations: [...posting, 'create-deployment'],
    alter: () => {
      const forced = new Set<unknown>();
      return {
        response: (response, request) => {
          const { force_installation: isForced, devices } = objectOf(request);
          if (isForced === true) for (const id of entriesOf(devices)) forced.add(id);
          const isOffered = response.status === 204 && forced.has(callerOf(request));
          return isOffered
            ? ownResponse(200, {
                id: callerOf(request),
                artifact: { artifact_name: 'forced', source: {}, device_types_compatible: [] },
              })
            : response;
        },
      };
    },
  },
];

function isPrefix(statedValue: string, values: readonly unknown[] = []): boolean {
  return values.some((value) => value !== statedValue && String(value).startsWith(statedValue));
}

/** Returns true if the text differs from the pattern, and matches it as LIKE in SQL does. */
function isLike(statedValue: string, pattern: string): boolean {
  const source = pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('_', '.');
  return (
    statedValue !== pattern &&
    new RegExp(`^${source.replaceAll('%', '.*')}$`, 'u').test(statedValue)
  );
}
