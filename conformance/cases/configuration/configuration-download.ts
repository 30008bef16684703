import { isTimestamp } from '../../../fixtures/contract/text.ts';
import { configurationOffer, deployedPairs } from '../../context/configuration-offer.ts';
import { report } from '../../context/deployment-life.ts';
import { requireResponse } from '../../context/start-states.ts';
import type { TestContext } from '../../context/test-context.ts';
import { defineScenario } from '../../suite/case.ts';
import { withAlteredSignature, withParameter, withSegment } from '../../target/altered-link.ts';
import { isArtifactFile, pairsIn } from '../../target/configuration-body.ts';
import {
  describeValue,
  ExpectationFailure,
  expectEach,
  expectEqual,
  expectStatus,
  expectThat,
  NotObservable,
  observationOf,
  responseSummary,
} from '../../target/expectations.ts';

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const SECOND_MS = 1000;
const DAY_SECONDS = 86_400;
/** How much later an altered expiry time is, in seconds. */
const postponements = {
  'a second later': 1,
  'a minute later': 60,
  'an hour later': 3600,
  'a day later': DAY_SECONDS,
  'a year later': 365 * DAY_SECONDS,
};

/** Expiry times that are not date-times. */
const malformedTimes = {
  'a word': 'tomorrow',
  'an empty string': '',
  'Unix seconds': '4102444800',
  'a day': '2099-12-31',
  'a month that does not exist': '2099-13-01T00:00:00Z',
};

/** Returns a segment of the link's path, counted from the end: 1 is the last. */
function segmentOf(uri: string, fromEnd: number): string {
  return decodeURIComponent(new URL(uri).pathname.split('/').at(-fromEnd) ?? '');
}

const link = defineScenario({
  area: 'configuration-download',
  name: 'The link',
  start: 'a device that has been offered a configuration deployment',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => configurationOffer(context),
  cases: [
    {
      id: 'link-names-the-deployment',
      title: 'The path of the link names the deployment, a UUID.',
      requirements: ['download.path-names-deployment'],
      run: async ({ uri }) => {
        const deployment = segmentOf(uri, 3);
        expectThat(uuidPattern.test(deployment), 'a UUID as deployment', describeValue(deployment));
      },
    },
    {
      id: 'link-names-the-device-type',
      title: 'The path of the link names the device type that the device reported.',
      requirements: ['download.path-names-device-type'],
      run: async ({ uri, deviceType }) => expectEqual('device type', segmentOf(uri, 2), deviceType),
    },
    {
      id: 'link-names-the-device',
      title: 'The path of the link names the device by its ID.',
      requirements: ['download.path-names-device'],
      run: async ({ uri, device }) => expectEqual('device', segmentOf(uri, 1), device.id),
    },
    {
      id: 'link-expires',
      title: 'The query of the link has an expiry time that is a date-time.',
      requirements: ['download.link-expires'],
      run: async ({ uri }, { names }) => {
        const expire = new URL(uri).searchParams.get(names.linkExpire) ?? 'none';
        expectThat(isTimestamp(expire), `a date-time as ${names.linkExpire}`, expire);
      },
    },
    {
      id: 'link-expires-as-its-instructions-say',
      title: 'The expiry time in the link is the one that the instructions give for their source.',
      requirements: ['download.expiry-is-that-of-the-source'],
      run: async ({ uri, expire }, { names }) => {
        const inLink = new URL(uri).searchParams.get(names.linkExpire) ?? 'none';
        if (expire === undefined) return;
        // Other cases check that each of the two is a date-time.
        if (!isTimestamp(expire) || !isTimestamp(inLink)) {
          throw new NotObservable('there are no two expiry times to compare');
        }
        const differenceMs = Math.abs(Date.parse(inLink) - Date.parse(expire));
        // The query has whole seconds on some servers.
        expectThat(differenceMs <= SECOND_MS, `${expire} in the link`, inLink);
      },
    },
    {
      id: 'link-is-signed',
      title: 'The query of the link has a signature.',
      requirements: ['download.link-is-signed'],
      run: async ({ uri }, { names: { linkSignature } }) => {
        const parameters = new URL(uri).searchParams;
        const signature = parameters.get(linkSignature) ?? '';
        expectThat(signature !== '', linkSignature, describeValue([...parameters.keys()]));
      },
    },
    {
      id: 'link-tenant',
      title: 'The query of the link may name the tenant.',
      requirements: ['download.tenant-id'],
      observe: async ({ uri }) => {
        const tenant = new URL(uri).searchParams.get('tenant_id');
        return observationOf(
          tenant === null ? 'no tenant_id' : `tenant_id ${describeValue(tenant)}`,
        );
      },
    },
    {
      id: 'configuration-deployment-takes-reports',
      title: 'A device can report on the deployment of its configuration.',
      requirements: ['status.is-204'],
      run: async (arranged) => {
        const response = await report(arranged, { status: 'installing' });
        expectThat(
          response.status !== 404,
          'a deployment that is known',
          responseSummary(response),
        );
      },
    },
    {
      id: 'name-of-the-file',
      title: 'Which file name the link suggests.',
      requirements: ['download.file-name'],
      observe: async ({ uri, get }) =>
        observationOf((await get(uri)).headers['content-disposition'] ?? 'no Content-Disposition'),
    },
    {
      id: 'link-gives-the-configuration',
      title: 'GET on the link, without a token, is answered with 200 and a body.',
      requirements: ['download.gives-the-configuration'],
      covers: ['download-configuration 200'],
      run: async ({ uri, get }) => {
        const response = await get(uri);
        expectStatus(response, 200);
        expectThat(response.bytes.length > 0, 'a body', responseSummary(response));
      },
    },
    {
      id: 'authorization-is-ignored',
      title: 'The link works with any Authorization header, since its query alone grants access.',
      requirements: ['download.authorization-is-ignored'],
      run: async ({ uri, device }, { client }) => {
        const { token = '' } = device;
        const headers = {
          "the device's token": `Bearer ${token}`,
          'no valid token': 'Bearer none',
          'another scheme': 'Basic bm86Ym9keQ==',
        };
        await expectEach(200, headers, (authorization) =>
          client.send({ method: 'GET', url: uri, headers: { authorization } }),
        );
      },
    },
    {
      id: 'configuration-holds-the-pairs',
      title: 'The link returns every name and value that was deployed.',
      requirements: ['download.holds-the-pairs'],
      run: async ({ uri, get }) => {
        const response = await get(uri);
        requireResponse('download-configuration', response, 200);
        const pairs = await pairsIn(response.bytes);
        if (!pairs) throw new NotObservable('the configuration has a form of its own');
        expectEqual('pairs', { ...pairs }, deployedPairs);
      },
    },
    {
      id: 'configuration-is-an-artifact',
      title: 'The configuration is an artifact file, which devices install like any other.',
      requirements: ['download.is-an-artifact'],
      run: async ({ uri, get }) => {
        const response = await get(uri);
        requireResponse('download-configuration', response, 200);
        expectThat(isArtifactFile(response.bytes), 'an artifact file', responseSummary(response));
      },
    },
    {
      id: 'missing-query-is-400',
      title: 'The link without its expiry time and its signature is answered with 400.',
      requirements: ['download.parameters-are-required'],
      covers: ['download-configuration 400'],
      run: async ({ uri, get }, { names: { linkExpire, linkSignature } }) => {
        const bare = withParameter(
          withParameter(uri, linkExpire, undefined),
          linkSignature,
          undefined,
        );
        expectStatus(await get(bare), 400);
      },
    },
    {
      id: 'missing-expire-is-400',
      title: 'The link without its expiry time is answered with 400.',
      requirements: ['download.expire-is-required'],
      run: async ({ uri, get }, { names }) =>
        expectStatus(await get(withParameter(uri, names.linkExpire, undefined)), 400),
    },
    {
      id: 'missing-signature-is-400',
      title: 'The link without its signature is answered with 400.',
      requirements: ['download.signature-is-required'],
      run: async ({ uri, get }, { names }) =>
        expectStatus(await get(withParameter(uri, names.linkSignature, undefined)), 400),
    },
    {
      id: 'malformed-expiry-is-refused',
      title:
        'An expiry time that is not a date-time is answered with 400, or 403 since it was not signed.',
      requirements: ['download.expiry-is-a-date-time'],
      run: async ({ uri, get }, { names }) => {
        for (const time of Object.values(malformedTimes)) {
          expectStatus(await get(withParameter(uri, names.linkExpire, time)), 400, 403);
        }
      },
    },
    {
      id: 'altered-signature-is-403',
      title: 'An altered signature is answered with 403.',
      requirements: ['download.invalid-signature-is-403'],
      covers: ['download-configuration 403'],
      run: async ({ uri, get }) => expectStatus(await get(withAlteredSignature(uri)), 403),
    },
    {
      id: 'foreign-signature-is-403',
      title:
        'A signature that is a word, cut off or otherwise of another length is answered with 403.',
      requirements: ['download.invalid-signature-is-403'],
      run: async ({ uri, get }, { names }) => {
        const validSignature = new URL(uri).searchParams.get(names.linkSignature) ?? '';
        const signatures = {
          'a word': 'signature',
          'a long one': 'A'.repeat(512),
          'the beginning of the right one': validSignature.slice(0, -4),
          'the right one and more': `${validSignature}0000`,
        };
        await expectEach(403, signatures, (signature) =>
          get(withParameter(uri, names.linkSignature, signature)),
        );
      },
    },
    {
      id: 'prolonged-link-is-403',
      title: 'A postponed expiry time is answered with 403, since the signature covers it.',
      requirements: ['download.signature-covers-expire'],
      run: async ({ uri, get }, { names }) => {
        const end = Date.parse(new URL(uri).searchParams.get(names.linkExpire) ?? '');
        if (Number.isNaN(end)) throw new NotObservable('the link has no date-time as its expiry');
        await expectEach(403, postponements, (seconds) =>
          get(
            withParameter(uri, names.linkExpire, new Date(end + seconds * SECOND_MS).toISOString()),
          ),
        );
      },
    },
    {
      id: 'past-expiry-is-403',
      title: 'An expiry time that was changed to a past one is answered with 403.',
      requirements: ['download.signature-covers-expire'],
      run: async ({ uri, get }, { names }) => {
        const expiredUri = withParameter(uri, names.linkExpire, '2010-01-01T00:00:00Z');
        expectStatus(await get(expiredUri), 403);
      },
    },
    {
      id: 'link-of-another-device-is-403',
      title:
        'The link with another device, device type, deployment or tenant is answered with 403.',
      requirements: ['download.signature-covers-path', 'download.signature-covers-tenant'],
      run: async ({ uri, get }, context) => {
        const segments = { 'another device': 1, 'another device type': 2, 'another deployment': 3 };
        await expectEach(403, segments, (fromEnd) =>
          get(withSegment(uri, fromEnd, context.random.uuid())),
        );
        if (!new URL(uri).searchParams.has('tenant_id')) return;
        const response = await get(withParameter(uri, 'tenant_id', context.random.uuid()));
        if (response.status === 403) return;
        throw new ExpectationFailure('status 403 for another tenant', responseSummary(response), [
          'download.signature-covers-tenant',
        ]);
      },
    },
  ],
});

const anyDeviceType = defineScenario({
  area: 'configuration-download',
  name: 'Any device type',
  start: 'a device of the type `board 2/ø` that has been offered a configuration deployment',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => configurationOffer(context, { deviceType: 'board 2/ø' }),
  cases: [
    {
      id: 'odd-device-type-works',
      title: 'The link works for a device type with a space, a slash and a non-ASCII letter.',
      requirements: ['download.any-device-type'],
      run: async ({ uri, get }) => expectStatus(await get(uri), 200),
    },
  ],
});

/** Number of pairs, and characters of each value, of a large configuration: 20,000 in all. */
const LARGE_PAIRS = 50;
const LARGE_VALUE_CHARACTERS = 400;

function largeConfiguration({ random }: TestContext): Readonly<Record<string, string>> {
  const value = () => random.bytes(LARGE_VALUE_CHARACTERS / 2).toString('hex');
  return Object.fromEntries(
    Array.from({ length: LARGE_PAIRS }, (_, index) => [`name-${index}`, value()]),
  );
}

const large = defineScenario<TestContext>({
  area: 'configuration-download',
  name: 'A large configuration',
  start: `a device whose configuration has ${LARGE_PAIRS} pairs`,
  effect: 'write',
  needs: ['user'],
  arrange: (context) => context,
  cases: [
    {
      id: 'large-configuration-is-delivered',
      title: `The link returns each of ${LARGE_PAIRS} pairs with values of ${LARGE_VALUE_CHARACTERS} random characters.`,
      requirements: ['download.holds-the-pairs'],
      run: async (context) => {
        const configuration = largeConfiguration(context);
        const { uri, get } = await configurationOffer(context, { pairs: configuration });
        const response = await get(uri);
        requireResponse('download-configuration', response, 200);
        const downloadedPairs = await pairsIn(response.bytes);
        if (!downloadedPairs) throw new NotObservable('the configuration has a form of its own');
        const wrongKeys = Object.keys(configuration).filter(
          (name) => downloadedPairs[name] !== configuration[name],
        );
        expectEqual('names of lost or changed pairs', wrongKeys, []);
      },
    },
  ],
});

/** Spec: Device deployments v1, "GET /download/configuration" */
export const configurationDownloadCases = [...link, ...anyDeviceType, ...large];
