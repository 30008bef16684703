/** Cases: how a device requests a link, and the link itself. Spec: ArtifactLink */
import { valueText } from '../../../fixtures/base/value-text.ts';
import { isTimestamp } from '../../../fixtures/contract/text.ts';
import { askedLink, linkedFile, linkedSample } from '../../context/followed-link.ts';
import { malformedIds } from '../../context/malformed-ids.ts';
import { ownArtifact } from '../../context/own-artifact.ts';
import { deviceAndArtifact } from '../../context/start-states.ts';
import { defineScenario } from '../../suite/case.ts';
import { withAlteredSignature, withOtherExpiry } from '../../target/altered-link.ts';
import {
  describeValue,
  expectEach,
  expectJson,
  expectStatus,
  expectThat,
  expectUrl,
  NotObservable,
  observationOf,
  responseSummary,
} from '../../target/expectations.ts';
import { isMap } from '../../target/json-members.ts';

const requestedLinkCases = defineScenario({
  area: 'artifact-link',
  name: 'Requests for a link',
  start: 'an accepted device, and an uploaded artifact',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => deviceAndArtifact(context, 'plain'),
  cases: [
    {
      id: 'link-is-200',
      title: 'A request for a link to an artifact file is answered with 200 and a JSON object.',
      requirements: ['link.fields'],
      covers: ['get-artifact-link 200'],
      run: async ({ device, artifact }) => {
        const response = await device.call('get-artifact-link', { path: { id: artifact.id } });
        expectStatus(response, 200);
        expectThat(isMap(expectJson(response)), 'an object', responseSummary(response));
      },
    },
    {
      id: 'unknown-artifact-is-404',
      title: 'A request for a link to an artifact that does not exist is answered with 404.',
      requirements: ['link.unknown-artifact-is-404'],
      covers: ['get-artifact-link 404'],
      run: async ({ device }, context) => {
        const path = { id: context.random.uuid() };
        expectStatus(await device.call('get-artifact-link', { path }), 404);
      },
    },
    {
      id: 'malformed-id-is-refused',
      title:
        'A request for a link with an artifact ID that is not a UUID is answered with 400 or 404.',
      requirements: ['link.malformed-id'],
      covers: ['get-artifact-link 400'],
      run: async ({ device }) => {
        for (const id of Object.values(malformedIds)) {
          const response = await device.call('get-artifact-link', { path: { id } });
          expectStatus(response, 400, 404);
        }
      },
    },
    {
      id: 'unauthenticated-is-401',
      title: 'A request for a link without a token, or with a malformed one, is answered with 401.',
      requirements: ['link.unauthenticated-is-401'],
      covers: ['get-artifact-link 401'],
      run: async ({ artifact: { id } }, context) => {
        const callers = { 'no token': context.caller(), 'a word as token': context.caller('word') };
        await expectEach(401, callers, (caller) =>
          caller.call('get-artifact-link', { path: { id } }),
        );
      },
    },
  ],
});

const reportedLinkCases = defineScenario({
  area: 'artifact-link',
  name: 'Fields of a link',
  start: 'the response to a device that requested a link',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const [link, response] = await askedLink(context, (await context.artifact('plain')).id);
    return { link, givenMs: context.serverNowMs(response) };
  },
  cases: [
    {
      id: 'uri-is-a-url',
      title: 'The uri of the link is present and is an absolute HTTP URL.',
      requirements: ['link.uri'],
      run: async ({ link: { uri } }) => {
        expectThat(typeof uri === 'string', 'a string as uri', describeValue(uri ?? 'none'));
        expectUrl('a uri', uri);
      },
    },
    {
      id: 'expire-is-a-date-time',
      title: 'The expire of the link is present and is a date-time.',
      requirements: ['link.expire'],
      run: async ({ link: { expire } }) => {
        const isDateTime = typeof expire === 'string' && isTimestamp(expire);
        expectThat(isDateTime, 'a date-time as expire', describeValue(expire ?? 'none'));
      },
    },
    {
      id: 'expire-is-in-the-future',
      title: 'The link expires later than it is issued.',
      requirements: ['link.expire-is-later'],
      run: async ({ link: { expire }, givenMs }) => {
        const endMs = Date.parse(valueText(expire));
        const isPast = endMs <= givenMs;
        expectThat(
          !isPast,
          `a time after ${new Date(givenMs).toISOString()}`,
          describeValue(expire),
        );
      },
    },
    {
      id: 'link-lifetime',
      title: 'How long a link to an artifact is valid.',
      requirements: ['link.lifetime'],
      observe: async ({ link: { expire }, givenMs }) =>
        observationOf(
          `about ${Math.round((Date.parse(valueText(expire)) - givenMs) / 1000)} seconds`,
        ),
    },
  ],
});

const following = defineScenario({
  area: 'artifact-link',
  name: 'Following a link',
  start: 'a device that got a link to an artifact file',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const { id, bytes } = await context.artifact('plain');
    const [{ uri }] = await askedLink(context, id);
    return { bytes, uri: expectUrl('a link', typeof uri === 'string' ? uri : undefined) };
  },
  cases: [
    {
      id: 'link-gives-the-file',
      title: 'GET on the link returns the artifact byte for byte, without a token.',
      requirements: ['link.gives-the-file'],
      run: async ({ bytes, uri }, context) => {
        const file = await context.client.send({ method: 'GET', url: uri });
        expectStatus(file, 200);
        expectThat(file.bytes.equals(bytes), 'the uploaded file', 'other bytes');
      },
    },
  ],
});

const usedLinkCases = defineScenario({
  area: 'artifact-link',
  name: 'A link in use',
  start: 'a link from which the file was downloaded',
  effect: 'write',
  needs: ['user'],
  arrange: (context) => linkedSample(context, 'plain'),
  cases: [
    {
      id: 'link-works-again',
      title: 'The link returns the file a second time, for a device that has to start over.',
      requirements: ['link.works-again'],
      run: async ({ follow, bytes }) => {
        const file = await follow();
        expectStatus(file, 200);
        expectThat(file.bytes.equals(bytes), 'the uploaded file', 'other bytes');
      },
    },
    {
      id: 'other-methods-are-refused',
      title: 'PUT, POST, PATCH and DELETE on the link are refused.',
      requirements: ['link.get-only'],
      run: async ({ uri }, context) => {
        for (const method of ['PUT', 'POST', 'PATCH', 'DELETE']) {
          const response = await context.client.send({ method, url: uri });
          const isRefused = response.status >= 400 && response.status < 500;
          expectThat(isRefused, `${method} refused with 4xx`, responseSummary(response));
        }
      },
    },
    {
      id: 'head',
      title: 'How the link answers HEAD, which HTTP pairs with GET.',
      requirements: ['link.head'],
      observe: async ({ uri }, context) => {
        const { status, headers } = await context.client.send({ method: 'HEAD', url: uri });
        return observationOf(
          `answered with ${status}, length ${headers['content-length'] ?? 'none'}`,
        );
      },
    },
    {
      id: 'name-of-the-file',
      title: 'Which file name the link suggests.',
      requirements: ['link.file-name'],
      observe: async ({ download: whole }) =>
        observationOf(whole.headers['content-disposition'] ?? 'no Content-Disposition'),
    },
    {
      id: 'altered-link-is-refused',
      title: 'With one character of its signature changed, the link returns no file.',
      requirements: ['link.is-signed'],
      run: async ({ uri }, context) => {
        const url = withAlteredSignature(uri);
        expectStatus(await context.client.send({ method: 'GET', url }), 400, 401, 403, 404);
      },
    },
    {
      id: 'prolonged-link-is-refused',
      title: 'With another expiry time in its query, the link returns no file.',
      requirements: ['link.is-signed'],
      run: async ({ uri }, context) => {
        const alteredUri = withOtherExpiry(uri);
        if (alteredUri.length === 0) throw new NotObservable('no expiry time is seen in the link');
        for (const url of alteredUri) {
          expectStatus(await context.client.send({ method: 'GET', url }), 400, 401, 403, 404);
        }
      },
    },
    {
      id: 'query-of-another-link-is-refused',
      title: 'With the query of the link to another artifact, the link returns no file.',
      requirements: ['link.is-signed'],
      run: async ({ uri }, context) => {
        const url = new URL(uri);
        const otherUrl = new URL((await linkedSample(context, 'dependent')).uri);
        // Where the query alone names the file, it is the other link.
        if (url.pathname === otherUrl.pathname) return;
        url.search = otherUrl.search;
        const response = await context.client.send({ method: 'GET', url: url.href });
        expectStatus(response, 400, 401, 403, 404);
      },
    },
    {
      id: 'link-without-query-is-refused',
      title: 'Without its query, which holds the signature, the link returns no file.',
      requirements: ['link.is-signed'],
      run: async ({ uri }, context) => {
        const { origin, pathname } = new URL(uri);
        const url = `${origin}${pathname}`;
        expectStatus(await context.client.send({ method: 'GET', url }), 400, 401, 403, 404);
      },
    },
  ],
});

const gone = defineScenario({
  area: 'artifact-link',
  name: 'The link of a deleted artifact',
  start: 'a link from which the file was downloaded, and whose artifact a user has since deleted',
  effect: 'write',
  needs: ['user'],
  arrange: async (context) => {
    const artifact = await ownArtifact(context, { content: Buffer.from('to be deleted') });
    const link = await linkedFile(context, artifact);
    await context.admin.deleteArtifact(artifact.id);
    return link;
  },
  cases: [
    {
      id: 'link-of-a-deleted-artifact',
      title: 'What a link returns after its artifact was deleted.',
      requirements: ['link.of-a-deleted-artifact'],
      observe: async ({ follow }) => observationOf(`answered with ${(await follow()).status}`),
    },
  ],
});

export const artifactLinkCases = [
  ...requestedLinkCases,
  ...reportedLinkCases,
  ...following,
  ...usedLinkCases,
  ...gone,
];
