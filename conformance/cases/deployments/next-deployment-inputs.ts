/**
 * Cases: accepted and refused requests for the next deployment; literal tables that a test checks
 * against the contract. Spec: Device deployments v1, v2
 */
import type { RequirementId } from '../../../fixtures/contract/requirements/index.ts';
import { acceptedDevice, factoryProvides } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import {
  type InputTable,
  inputCases,
  namedValues,
  otherThanString,
} from '../../suite/input-table.ts';
import { anySuccess, expectEach, observationOf } from '../../target/expectations.ts';

type Pairs = Readonly<Record<string, string>>;

const { device_type, artifact_name } = factoryProvides;
const otherThanObject = ['null', 'boolean', 'number', 'string', 'array'] as const;
/** Statuses of an accepted request; 404 is allowed since the server may not know the artifact. */
const acceptedStatuses = [...anySuccess, 404];
const longQueryText = 'x'.repeat(5000);

/** A valid body of version 1 with one free pair. */
export const validProvides = { artifact_name: 'conformance-input', device_type, colour: 'blue' };

/** A valid body of version 2. */
export const validBodyV2 = { device_provides: validProvides, update_control_map: false };

/** The input table for each field of the body of version 1. */
export const provideInputs: InputTable = {
  'post-other-body-is-400': {
    title: 'POST v1 with no body, or with a body that is not a JSON object, is answered with 400.',
    requirement: 'next.post-body',
    field: '',
    refused: ['missing', 'not JSON', 'null', 'boolean', 'number', 'string', 'array'],
    covers: ['post-next-deployment 400'],
  },
  'post-without-artifact-name-is-400': {
    title: 'POST v1 without artifact_name is answered with 400.',
    requirement: 'next.post-artifact-name',
    field: 'artifact_name',
    refused: ['missing'],
  },
  'post-other-artifact-name-is-400': {
    title: 'POST v1 with an artifact_name that is not a string is answered with 400.',
    requirement: 'next.post-artifact-name-is-string',
    field: 'artifact_name',
    refused: otherThanString,
  },
  'post-any-artifact-name-is-accepted': {
    title: 'POST v1 accepts any string as artifact_name.',
    requirement: 'next.post-artifact-name-is-string',
    field: 'artifact_name',
    accepted: ['string'],
  },
  'post-empty-artifact-name': {
    title: 'How POST v1 with an empty artifact_name is answered.',
    requirement: 'next.empty-strings',
    field: 'artifact_name',
    open: ['empty string'],
  },
  'post-long-artifact-name': {
    title: 'How POST v1 with a very long artifact_name is answered.',
    requirement: 'next.long-strings',
    field: 'artifact_name',
    open: ['long string'],
  },
  'post-without-device-type-is-400': {
    title: 'POST v1 without device_type is answered with 400.',
    requirement: 'next.post-device-type',
    field: 'device_type',
    refused: ['missing'],
  },
  'post-other-device-type-is-400': {
    title: 'POST v1 with a device_type that is not a string is answered with 400.',
    requirement: 'next.post-device-type-is-string',
    field: 'device_type',
    refused: otherThanString,
  },
  'post-any-device-type-is-accepted': {
    title: 'POST v1 accepts any string as device_type.',
    requirement: 'next.post-device-type-is-string',
    field: 'device_type',
    accepted: ['string'],
  },
  'post-empty-device-type': {
    title: 'How POST v1 with an empty device_type is answered.',
    requirement: 'next.empty-strings',
    field: 'device_type',
    open: ['empty string'],
  },
  'post-long-device-type': {
    title: 'How POST v1 with a very long device_type is answered.',
    requirement: 'next.long-strings',
    field: 'device_type',
    open: ['long string'],
  },
  'post-only-the-keys-is-accepted': {
    title: 'POST v1 needs only its two mandatory keys.',
    requirement: 'next.post-keys',
    field: 'colour',
    accepted: ['missing'],
  },
  'post-other-free-pair-is-400': {
    title: 'POST v1 with a free pair whose value is not a string is answered with 400.',
    requirement: 'next.post-values-are-strings',
    field: 'colour',
    refused: ['boolean', 'number', 'array', 'object'],
  },
  'post-free-pair-is-accepted': {
    title: 'A device may describe itself with further string pairs in POST v1.',
    requirement: 'next.free-pairs',
    field: 'colour',
    accepted: ['string'],
  },
  'post-empty-free-pair': {
    title: 'POST v1 accepts a free pair with an empty value, which is a string too.',
    requirement: 'next.free-pairs',
    field: 'colour',
    accepted: ['empty string'],
  },
  'post-long-free-pair': {
    title: 'How POST v1 with a very long value of a free pair is answered.',
    requirement: 'next.long-strings',
    field: 'colour',
    open: ['long string'],
  },
  'post-null-free-pair': {
    title: 'How POST v1 with a null value of a free pair is answered.',
    requirement: 'next.null-for-absent',
    field: 'colour',
    open: ['null'],
  },
};

const requirementsOfV2: ReadonlyMap<RequirementId, RequirementId> = new Map([
  ['next.post-artifact-name', 'next.v2-provides-artifact-name'],
  ['next.post-artifact-name-is-string', 'next.v2-provides-artifact-name-is-string'],
  ['next.post-device-type', 'next.v2-provides-device-type'],
  ['next.post-device-type-is-string', 'next.v2-provides-device-type-is-string'],
  ['next.post-keys', 'next.v2-keys'],
  ['next.post-values-are-strings', 'next.v2-values-are-strings'],
  ['next.free-pairs', 'next.v2-free-pairs'],
]);

/** The rows of version 1 for the same pairs, which are in `device_provides` in version 2. */
const pairInputsV2: InputTable = Object.fromEntries(
  Object.entries(provideInputs)
    .filter(([, { field }]) => field !== '')
    .map(([id, row]) => [
      id.replace('post', 'v2'),
      {
        ...row,
        title: row.title.replace('v1', 'v2'),
        field: `device_provides.${row.field}`,
        requirement: requirementsOfV2.get(row.requirement) ?? row.requirement,
      },
    ]),
);

/** The input table for each field of the body of version 2. */
export const inputsV2: InputTable = {
  'v2-other-body-is-400': {
    title: 'POST v2 with no body, or with a body that is not a JSON object, is answered with 400.',
    requirement: 'next.v2-body',
    field: '',
    refused: ['missing', 'not JSON', 'null', 'boolean', 'number', 'string', 'array'],
    covers: ['post-next-deployment-v2 400'],
  },
  'v2-without-provides-is-400': {
    title: 'POST v2 without device_provides is answered with 400.',
    requirement: 'next.v2-fields',
    field: 'device_provides',
    refused: ['missing'],
  },
  'v2-other-provides-is-400': {
    title: 'POST v2 with a device_provides that is not an object is answered with 400.',
    requirement: 'next.v2-types',
    field: 'device_provides',
    refused: [...otherThanObject, 'empty string', 'long string'],
  },
  ...pairInputsV2,
  'v2-without-flag-is-accepted': {
    title: 'POST v2 needs no update_control_map.',
    requirement: 'next.v2-keys',
    field: 'update_control_map',
    accepted: ['missing'],
  },
  'v2-flag-is-accepted': {
    title: 'A device may say in v2 that it supports update control maps.',
    requirement: 'next.v2-flag',
    field: 'update_control_map',
    accepted: ['boolean'],
    needs: ['update-control-map'],
  },
  'v2-other-flag-is-400': {
    title: 'POST v2 with an update_control_map that is not a boolean is answered with 400.',
    requirement: 'next.v2-flag-is-a-boolean',
    field: 'update_control_map',
    refused: {
      ...namedValues('number', 'string', 'empty string', 'long string', 'array', 'object'),
      'the string true': 'true',
    },
  },
  'v2-null-flag': {
    title: 'How POST v2 with null as update_control_map is answered.',
    requirement: 'next.null-for-absent',
    field: 'update_control_map',
    open: ['null'],
  },
};

const queries = defineScenario({
  area: 'next-deployment',
  name: 'Parameters of GET',
  start: 'an accepted device without a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: [
    {
      id: 'get-without-artifact-name-is-400',
      title: 'GET without artifact_name is answered with 400.',
      requirements: ['next.get-artifact-name'],
      covers: ['get-next-deployment 400'],
      run: (device) =>
        expectEach(400, { 'no artifact_name': { device_type } }, (query) => poll(device, query)),
    },
    {
      id: 'get-without-device-type-is-400',
      title: 'GET without device_type is answered with 400.',
      requirements: ['next.get-device-type'],
      run: (device) =>
        expectEach(400, { 'no device_type': { artifact_name } }, (query) => poll(device, query)),
    },
    {
      id: 'get-needs-no-more',
      title: 'GET needs only artifact_name and device_type, which may be any string.',
      requirements: ['next.get-parameters'],
      run: async (device) => {
        const queries = {
          'both parameters': factoryProvides,
          'a space and a symbol': { device_type, artifact_name: 'release 1/2 & more' },
          'other letters': { device_type: 'плата-7', artifact_name },
        };
        await expectEach(acceptedStatuses, queries, (query) => poll(device, query));
      },
    },
    {
      id: 'get-empty-parameter',
      title: 'How GET with an empty parameter is answered.',
      requirements: ['next.empty-strings'],
      observe: async (device) => {
        const unnamed = await poll(device, { device_type, artifact_name: '' });
        const untyped = await poll(device, { device_type: '', artifact_name });
        return observationOf(`artifact_name ${unnamed.status}, device_type ${untyped.status}`);
      },
    },
    {
      id: 'get-long-parameter',
      title: 'How GET with a very long parameter is answered.',
      requirements: ['next.long-strings'],
      observe: async (device) => {
        const unnamed = await poll(device, { device_type, artifact_name: longQueryText });
        const untyped = await poll(device, { device_type: longQueryText, artifact_name });
        return observationOf(`artifact_name ${unnamed.status}, device_type ${untyped.status}`);
      },
    },
    {
      id: 'names-of-two-lines',
      title: 'How GET and POST v1 with a line break in a value are answered.',
      requirements: ['next.control-characters'],
      observe: async (device) => {
        const observations: string[] = [];
        for (const name of ['artifact_name', 'device_type'] as const) {
          const provides = { ...factoryProvides, [name]: 'one\r\ntwo' };
          const getResponse = await poll(device, provides);
          const postResponse = await device.call('post-next-deployment', { body: provides });
          observations.push(`${name}: GET ${getResponse.status}, POST ${postResponse.status}`);
        }
        return observationOf(observations.join('; '));
      },
    },
  ],
});

const bodies = defineScenario({
  area: 'next-deployment',
  name: 'Bodies of POST v1',
  start: 'an accepted device without a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: inputCases<SuiteDevice>(provideInputs, {
    body: validProvides,
    send: (device, { raw }) => device.call('post-next-deployment', { raw }),
    accepted: acceptedStatuses,
  }),
});

const bodiesV2 = defineScenario({
  area: 'next-deployment',
  name: 'Bodies of POST v2',
  start: 'an accepted device without a deployment',
  effect: 'write',
  needs: ['user', 'deployments-v2'],
  arrange: acceptedDevice,
  cases: inputCases<SuiteDevice>(inputsV2, {
    body: validBodyV2,
    send: (device, { raw }) => device.call('post-next-deployment-v2', { raw }),
    accepted: acceptedStatuses,
  }),
});

function poll(device: SuiteDevice, query: Pairs) {
  return device.call('get-next-deployment', { query });
}

/** The forms of a poll, each with the requirements on its two members. */
const formsOfPolls = [
  {
    slug: 'get',
    label: 'GET',
    requirements: ['next.get-artifact-name', 'next.get-device-type'],
    needs: [],
    poll,
  },
  {
    slug: 'post',
    label: 'POST v1',
    requirements: ['next.post-artifact-name', 'next.post-device-type'],
    needs: [],
    poll: (device: SuiteDevice, provides: Pairs) =>
      device.call('post-next-deployment', { raw: JSON.stringify(provides) }),
  },
  {
    slug: 'v2',
    label: 'POST v2',
    requirements: ['next.v2-provides-artifact-name', 'next.v2-provides-device-type'],
    needs: ['deployments-v2'],
    poll: (device: SuiteDevice, provides: Pairs) =>
      device.call('post-next-deployment-v2', {
        raw: JSON.stringify({ device_provides: provides }),
      }),
  },
] as const;

const repeatedPolls = defineScenario({
  area: 'next-deployment',
  name: 'Requests after a whole one',
  start: 'an accepted device without a deployment',
  effect: 'write',
  needs: ['user'],
  arrange: acceptedDevice,
  cases: formsOfPolls.map(
    ({ slug, label, requirements, needs, poll }): JudgingCase<SuiteDevice> => ({
      id: `${slug}-needs-what-it-was-given-before`,
      title: `${label} without device_type or artifact_name is answered with 400 after a whole one too.`,
      requirements,
      needs,
      run: async (device) => {
        await poll(device, validProvides);
        const parts = { 'no artifact_name': { device_type }, 'no device_type': { artifact_name } };
        await expectEach(400, parts, (part) => poll(device, part));
      },
    }),
  ),
});

/** Spec: Device deployments v1, v2 */
export const nextDeploymentInputCases = [...queries, ...bodies, ...bodiesV2, ...repeatedPolls];
