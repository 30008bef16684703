/**
 * Cases: deprecated fields of operations that stay, and fields that the replacement of a deprecated
 * API does not accept. They are played on targets that have these operations of the management API.
 * Spec: Deprecated APIs; Deprecated fields
 */
import * as v from 'valibot';
import { parsedJson } from '../../../fixtures/base/json.ts';
import { managementOperations } from '../../../fixtures/contract/management/index.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import { type SecondUser, secondUser } from '../../context/second-user.ts';
import { authorizationOf } from '../../context/short-lived-token.ts';
import { acceptedDevice, factoryProvides } from '../../context/start-states.ts';
import type { SuiteDevice } from '../../context/suite-device.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { requestOf } from '../../target/call.ts';
import {
  describeValue,
  expectEqual,
  expectStatus,
  expectThat,
  responseSummary,
} from '../../target/expectations.ts';
import { membersOf } from '../../target/json-members.ts';
import type { HttpResponse } from '../../target/response.ts';

const { 'create-user': invite, 'update-own-user': updateOwn } = managementOperations;
const { 'list-delta-jobs': listJobs, 'get-delta-job': getJob } = managementOperations;

/** Asserts that a request with a field that the operation does not accept is refused. */
function expectRefused(field: string, response: HttpResponse): void {
  const isRefused = response.status >= 400 && response.status < 500;
  expectThat(isRefused, `a refusal of ${field}`, responseSummary(response));
}

const replacements = defineScenario<SecondUser>({
  area: 'versioning',
  name: 'Replacements of deprecated APIs',
  start: 'a tenant of its own with a second user',
  effect: 'write',
  needs: ['user', 'audit-log', 'tenant-control'],
  arrange: secondUser,
  cases: [
    {
      id: 'new-user-v2-has-no-password',
      title:
        'Version 2 of POST users, if there is one, accepts no password and no `send_reset_password`.',
      requirements: ['deprecated.new-user-v2-without-password'],
      run: async (_, context) => {
        const headers = authorizationOf(context.admin);
        const fields = [{ password: `of ${context.newName()}` }, { send_reset_password: true }];
        for (const field of fields) {
          const body = { email: `${context.newName()}@conformance.example`, ...field };
          const response = await context.client.send(requestOf(invite, { body, headers }));
          expectRefused(Object.keys(field).join(), response);
        }
      },
    },
    {
      id: 'own-user-v2-has-no-email',
      title: 'Version 2 of PUT users/me, if there is one, does not accept an email address.',
      requirements: ['deprecated.own-user-v2-without-email'],
      run: async ({ logIn, password }, context) => {
        const headers = authorizationOf(await logIn());
        const changedText = `of ${context.newName()}`;
        context.maskSecret(changedText, 'password');
        const body = {
          email: `${context.newName()}@conformance.example`,
          password: changedText,
          current_password: password,
        };
        const response = await context.client.send(requestOf(updateOwn, { body, headers }));
        expectRefused('email', response);
      },
    },
  ],
});

const jobs = v.array(v.looseObject({ id: v.string() }));

/** Returns the delta job between two releases; undefined if there is none. */
async function deltaJob(
  context: TestContext,
  from: string,
  to: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const headers = authorizationOf(context.admin);
  const jobList = await context.client.send(requestOf(listJobs, { headers }));
  const listedJobs = v.safeParse(jobs, parsedJson(jobList.text));
  for (const { id } of listedJobs.success ? listedJobs.output : []) {
    const { text } = await context.client.send(requestOf(getJob, { path: { id }, headers }));
    const job = membersOf(parsedJson(text));
    const versions = [job.from_version, job.to_version];
    if (versions.includes(from) && versions.includes(to)) return job;
  }
  return undefined;
}

const fields = defineScenario<SuiteDevice>({
  area: 'versioning',
  name: 'Deprecated fields',
  start: 'an accepted device',
  effect: 'write',
  needs: ['user', 'audit-log'],
  arrange: (context) => acceptedDevice(context),
  cases: [
    {
      id: 'size-of-the-form-has-no-effect',
      title: 'The size of an artifact, if present, is not believed from the form field `size`.',
      requirements: ['deprecated.artifact-size-field'],
      run: async (device, context) => {
        const content = Buffer.from('of a form');
        const { id } = await ownArtifact(context, { content, fields: { size: '7' } });
        const response = await device.call('get-artifact', { path: { id } });
        expectStatus(response, 200);
        // Another case checks that it is the size of the file.
        const { size } = membersOf(parsedJson(response.text));
        expectThat(size !== 7, 'a size other than that of the form', describeValue(size));
      },
    },
    {
      id: 'delta-job-names-its-versions',
      title: 'A delta job, if there is one, names its two versions in the former fields too.',
      requirements: ['deprecated.from-release', 'deprecated.to-release'],
      run: async (device, context) => {
        const [from, to] = [context.newName(), context.newName()];
        for (const name of [from, to]) {
          await ownArtifact(context, { name, content: Buffer.from(`release ${name}`) });
        }
        await context.deploy({ artifact_name: to, devices: [device.id], autogenerate_delta: true });
        await device.call('get-next-deployment', {
          query: { ...factoryProvides, artifact_name: from },
        });
        const job = await deltaJob(context, from, to);
        if (job === undefined) return;
        const { from_version, from_release = from, to_version, to_release = to } = job;
        expectEqual('from_version and from_release', [from_version, from_release], [from, from]);
        expectEqual('to_version and to_release', [to_version, to_release], [to, to]);
      },
    },
  ],
});

/** Spec: Deprecated APIs; Deprecated fields */
export const deprecatedFieldCases = [...replacements, ...fields];
