/** Cases: how a device requests a link, and the link itself. Spec: ArtifactLink */

import { isTimestamp } from '../../fixtures/contract/text.ts';
import { valueText } from '../../fixtures/value-text.ts';
import { askedLink, linkedFile, linkedSample } from '../context/followed-link.ts';
import { ownArtifact } from '../context/own-artifact.ts';
import { deviceAndArtifact } from '../context/start-states.ts';
import { defineScenario } from '../suite/case.ts';
import { withAlteredSignature } from '../target/altered-link.ts';
import {
  expectEach,
  expectJson,
  expectStatus,
  expectThat,
  expectUrl,
  observed,
  shown,
  shownAnswer,
} from '../target/expectations.ts';
import { isMap } from '../target/json-members.ts';
import { malformedIds } from './artifacts.ts';

const asking = defineScenario({
  area: 'artifact-link',
  name: 'Asking for a link',
  start: 'an accepted device, and an uploaded artifact',
  risk: 'write',
  needs: ['operator'],
  arrange: (context) => deviceAndArtifact(context, 'plain'),
  cases: [
    {
      id: 'link-is-200',
      title: 'A link to the file of an artifact is answered 200 as a JSON object.',
      requirements: ['link.fields'],
      covers: ['get-artifact-link 200'],
      run: async ({ device, artifact }) => {
        const answer = await device.call('get-artifact-link', { path: { id: artifact.id } });
        expectStatus(answer, 200);
        expectThat(isMap(expectJson(answer)), 'an object', shownAnswer(answer));
      },
    },
    {
      id: 'unknown-artifact-is-404',
      title: 'A link to an artifact that does not exist is answered 404.',
      requirements: ['link.unknown-artifact-is-404'],
      covers: ['get-artifact-link 404'],
      run: async ({ device }, context) => {
        const path = { id: context.random.uuid() };
        expectStatus(await device.call('get-artifact-link', { path }), 404);
      },
    },
    {
      id: 'malformed-id-is-refused',
      title: 'A link to an artifact id that is not a UUID is answered 400 or 404.',
      requirements: ['link.malformed-id'],
      covers: ['get-artifact-link 400'],
      run: async ({ device }) => {
        for (const id of Object.values(malformedIds)) {
          const answer = await device.call('get-artifact-link', { path: { id } });
          expectStatus(answer, 400, 404);
        }
      },
    },
    {
      id: 'strangers-get-no-link',
      title: 'Asking for a link is 401 without a token, and with one that is none.',
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

const reported = defineScenario({
  area: 'artifact-link',
  name: 'What the link says',
  start: 'what a device was told that asked for a link',
  risk: 'write',
  needs: ['operator'],
  arrange: async (context) => {
    const [link, answer] = await askedLink(context, (await context.artifact('plain')).id);
    return { link, givenMs: context.serverNowMs(answer) };
  },
  cases: [
    {
      id: 'uri-is-a-url',
      title: 'The uri of the link is present and is an absolute URL of HTTP.',
      requirements: ['link.uri'],
      run: async ({ link: { uri } }) => {
        expectThat(typeof uri === 'string', 'a string as uri', shown(uri ?? 'none'));
        expectUrl('a uri', uri);
      },
    },
    {
      id: 'expire-is-a-date-time',
      title: 'The expire of the link is present and is a date-time.',
      requirements: ['link.expire'],
      run: async ({ link: { expire } }) => {
        const isMoment = typeof expire === 'string' && isTimestamp(expire);
        expectThat(isMoment, 'a date-time as expire', shown(expire ?? 'none'));
      },
    },
    {
      id: 'expire-is-still-to-come',
      title: 'The moment at which the link ends is later than the one at which it is given.',
      requirements: ['link.expire-is-later'],
      run: async ({ link: { expire }, givenMs }) => {
        const endMs = Date.parse(valueText(expire));
        const isPast = endMs <= givenMs;
        expectThat(!isPast, `a moment after ${new Date(givenMs).toISOString()}`, shown(expire));
      },
    },
    {
      id: 'link-lifetime',
      title: 'How long the link is valid.',
      requirements: ['link.lifetime'],
      observe: async ({ link: { expire }, givenMs }) =>
        observed(`about ${Math.round((Date.parse(valueText(expire)) - givenMs) / 1000)} seconds`),
    },
  ],
});

const following = defineScenario({
  area: 'artifact-link',
  name: 'Following the link',
  start: 'a device that got a link to an artifact file',
  risk: 'write',
  needs: ['operator'],
  arrange: async (context) => {
    const { id, bytes } = await context.artifact('plain');
    const [{ uri }] = await askedLink(context, id);
    return { bytes, uri: expectUrl('a link', typeof uri === 'string' ? uri : undefined) };
  },
  cases: [
    {
      id: 'link-gives-the-file',
      title: 'GET on the link gives the artifact byte by byte, without a token.',
      requirements: ['link.gives-the-file'],
      run: async ({ bytes, uri }, context) => {
        const file = await context.session.send({ method: 'GET', url: uri });
        expectStatus(file, 200);
        expectThat(file.bytes.equals(bytes), 'the uploaded file', 'other bytes');
      },
    },
  ],
});

const used = defineScenario({
  area: 'artifact-link',
  name: 'A link that works',
  start: 'a link by which the file has been loaded',
  risk: 'write',
  needs: ['operator'],
  arrange: (context) => linkedSample(context, 'plain'),
  cases: [
    {
      id: 'link-works-again',
      title: 'The link gives the file a second time, as a device needs that has to begin anew.',
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
          const answer = await context.session.send({ method, url: uri });
          const isRefused = answer.status >= 400 && answer.status < 500;
          expectThat(isRefused, `${method} refused with 4xx`, shownAnswer(answer));
        }
      },
    },
    {
      id: 'head',
      title: 'HEAD on the link, which HTTP pairs with GET.',
      requirements: ['link.head'],
      observe: async ({ uri }, context) => {
        const { status, headers } = await context.session.send({ method: 'HEAD', url: uri });
        return observed(`answered ${status}, length ${headers['content-length'] ?? 'not told'}`);
      },
    },
    {
      id: 'name-of-the-file',
      title: 'Under which name the link gives the file.',
      requirements: ['link.file-name'],
      observe: async ({ whole }) =>
        observed(whole.headers['content-disposition'] ?? 'no Content-Disposition'),
    },
    {
      id: 'altered-link-is-refused',
      title: 'With one character of its signature changed the link gives no file.',
      requirements: ['link.is-signed'],
      run: async ({ uri }, context) => {
        const url = withAlteredSignature(uri);
        expectStatus(await context.session.send({ method: 'GET', url }), 400, 401, 403, 404);
      },
    },
    {
      id: 'link-without-query-is-refused',
      title: 'Without its query, in which the signature is, the link gives no file.',
      requirements: ['link.is-signed'],
      run: async ({ uri }, context) => {
        const { origin, pathname } = new URL(uri);
        const url = `${origin}${pathname}`;
        expectStatus(await context.session.send({ method: 'GET', url }), 400, 401, 403, 404);
      },
    },
  ],
});

const gone = defineScenario({
  area: 'artifact-link',
  name: 'A link whose artifact is gone',
  start: 'a link by which the file has been loaded, of an artifact that a user has deleted since',
  risk: 'write',
  needs: ['operator'],
  arrange: async (context) => {
    const artifact = await ownArtifact(context, { content: Buffer.from('to be deleted') });
    const link = await linkedFile(context, artifact);
    await context.admin.deleteArtifact(artifact.id);
    return link;
  },
  cases: [
    {
      id: 'link-of-a-deleted-artifact',
      title: 'What a link leads to when its artifact has been deleted.',
      requirements: ['link.of-a-deleted-artifact'],
      observe: async ({ follow }) => observed(`answered ${(await follow()).status}`),
    },
  ],
});

export const artifactLinkCases = [...asking, ...reported, ...following, ...used, ...gone];
