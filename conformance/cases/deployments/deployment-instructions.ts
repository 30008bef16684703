/**
 * Cases: the instructions for a pending update, field by field. Spec: DeploymentInstructions (v1),
 * DeploymentInstructions (v2)
 */
import { isTimestamp } from '../../../fixtures/contract/text.ts';
import { report } from '../../context/deployment-life.ts';
import {
  fieldIn,
  type InstructedDevice,
  instructedBy,
  isObject,
  requireInstructions,
  textIn,
} from '../../context/instructions.ts';
import { type PollVariant, pollVariants } from '../../context/poll-variants.ts';
import { defineScenario, type JudgingCase } from '../../suite/case.ts';
import { instructionFields, instructionTypes } from '../../suite/instruction-fields.ts';
import {
  describeValue,
  expectEqual,
  expectJson,
  expectStatus,
  expectThat,
  NotObservable,
  observationOf,
  responseSummary,
  sorted,
} from '../../target/expectations.ts';

function fieldCases({ slug, label }: PollVariant): JudgingCase<InstructedDevice>[] {
  const version = slug === 'v2' ? 'v2' : 'v1';
  return instructionFields.flatMap(({ field, type, isRequired, requirements }) => {
    const requirement = requirements[version];
    if (requirement === undefined) return [];
    const name = field.replaceAll(/[._]/g, '-');
    return {
      id: `${slug}-field-${name}`,
      title: `${label}: ${field} of the instructions ${isRequired ? 'is' : 'may be'} ${type}.`,
      requirements: [requirement],
      run: async ({ response }) => {
        const value = fieldIn(requireInstructions(response), field);
        if (value === undefined && !isRequired) return;
        expectThat(
          instructionTypes[type](value),
          `${field} as ${type}`,
          `${field}: ${describeValue(value)}`,
        );
      },
    };
  });
}

function wholeCases(variant: PollVariant): JudgingCase<InstructedDevice>[] {
  const { slug, label } = variant;
  return [
    {
      id: `${slug}-instructions-are-an-object`,
      title: `${label}: the instructions are a JSON object.`,
      requirements: [slug === 'v2' ? 'next.instructions-v2' : 'next.instructions-v1'],
      run: async ({ response }) =>
        expectThat(isObject(expectJson(response)), 'a JSON object', responseSummary(response)),
    },
    {
      id: `${slug}-names-the-artifact`,
      title: `${label}: the artifact name is that of the deployed artifact.`,
      requirements: ['next.names-the-artifact'],
      run: async ({ response, artifact }) => {
        const name = textIn(requireInstructions(response), 'artifact.artifact_name');
        expectEqual('artifact name', name, artifact.name);
      },
    },
    {
      id: `${slug}-types-of-the-artifact`,
      title: `${label}: the device types are those of the deployed artifact.`,
      requirements: ['next.types-of-the-artifact'],
      run: async ({ response, artifact }) => {
        const types = fieldIn(requireInstructions(response), 'artifact.device_types_compatible');
        if (!Array.isArray(types)) throw new NotObservable('there is no list of device types');
        expectEqual('device types', sorted(types), sorted(artifact.deviceTypes));
      },
    },
    ...sourceCases(variant),
  ];
}

function sourceCases({ slug, label }: PollVariant): JudgingCase<InstructedDevice>[] {
  return [
    {
      id: `${slug}-source-gives-the-artifact`,
      title: `${label}: GET on the source, without a token, returns the artifact byte for byte.`,
      requirements: ['next.source-gives-the-artifact'],
      run: async ({ response, artifact }, context) => {
        const url = textIn(requireInstructions(response), 'artifact.source.uri');
        if (!URL.canParse(url)) throw new NotObservable('the source is not a URL');
        const file = await context.client.send({ method: 'GET', url });
        expectStatus(file, 200);
        expectThat(file.bytes.equals(artifact.bytes), 'the uploaded file', 'other bytes');
      },
    },
    {
      id: `${slug}-source-expires-later`,
      title: `${label}: the expiry time of the source, if present, is in the future.`,
      requirements: ['next.source-expires-later'],
      run: async ({ response }, context) => {
        const instructions = requireInstructions(response);
        if (fieldIn(instructions, 'artifact.source.expire') === undefined) return;
        const expire = textIn(instructions, 'artifact.source.expire');
        if (!isTimestamp(expire)) throw new NotObservable('the source has no expiry date-time');
        const isLater = Date.parse(expire) > context.serverNowMs(response);
        expectThat(isLater, 'a time in the future', describeValue(expire));
      },
    },
  ];
}

function idCase({ slug, label }: PollVariant): JudgingCase<InstructedDevice> {
  return {
    id: `${slug}-id-is-the-deployment`,
    title: `${label} names the deployment by the ID that users see.`,
    requirements: ['next.id-of-the-deployment'],
    run: async ({ response, deploymentId }) =>
      expectEqual('id', textIn(requireInstructions(response), 'id'), deploymentId),
  };
}

function artifactIdCase({ slug, label }: PollVariant): JudgingCase<InstructedDevice> {
  return {
    id: `${slug}-artifact-id-is-the-artifact`,
    title: `${label}: the artifact ID, if present, is that of the deployed artifact.`,
    requirements: ['next.v1-artifact-id'],
    run: async ({ response, artifact }) => {
      const id = fieldIn(requireInstructions(response), 'artifact.id');
      if (id !== undefined) expectEqual('artifact ID', id, artifact.id);
    },
  };
}

function instructionsIn(variant: PollVariant) {
  return defineScenario({
    area: 'next-deployment',
    name: `Instructions of ${variant.label}`,
    start: `a device that has been offered a deployment by ${variant.label}`,
    effect: 'write',
    needs: ['user', ...variant.needs],
    arrange: (context) => instructedBy(variant, context),
    cases: [
      ...wholeCases(variant),
      ...fieldCases(variant),
      ...(variant.slug === 'v2' ? [] : [idCase(variant), artifactIdCase(variant)]),
    ],
  });
}

const v2Variant = pollVariants[2];

const onlyInV2 = defineScenario({
  area: 'next-deployment',
  name: 'Instructions of v2 only',
  start: 'a device that has been offered a deployment by POST v2',
  effect: 'write',
  needs: ['user', ...v2Variant.needs],
  arrange: (context) => instructedBy(v2Variant, context),
  cases: [
    {
      id: 'id-in-v2-is-usable',
      title: 'The device reports on the deployment with the ID that v2 returns.',
      requirements: ['next.v2-id-is-usable'],
      run: async ({ device, response }) => {
        const id = textIn(requireInstructions(response), 'id');
        const reportResponse = await report({ device, id }, { status: 'downloading' });
        expectThat(
          reportResponse.status !== 404,
          'a deployment of that ID',
          responseSummary(reportResponse),
        );
      },
    },
    {
      id: 'id-in-v2',
      title: 'Version 2 may name the deployment by its own ID or by one made for the device.',
      requirements: ['next.id-per-device'],
      observe: async ({ response, deploymentId }) => {
        const isOwn = textIn(requireInstructions(response), 'id') === deploymentId;
        return observationOf(isOwn ? 'the ID of the deployment' : 'an ID of its own');
      },
    },
    {
      id: 'artifact-id-in-v2',
      title: 'The artifact in the instructions of version 2 has no `id`, unlike that of version 1.',
      requirements: ['next.artifact-id-in-v2'],
      run: async ({ response }) => {
        const id = fieldIn(requireInstructions(response), 'artifact.id');
        expectEqual('artifact.id', id, undefined);
      },
    },
  ],
});

/** Spec: DeploymentInstructions (v1), DeploymentInstructions (v2) */
export const deploymentInstructionCases = [...pollVariants.flatMap(instructionsIn), ...onlyInV2];
