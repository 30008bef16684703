/** Shows the reference of the APIs: a list of operations, and each operation with its parts. */
import { Link, useParams } from 'wouter-preact';
import { Badge } from '../../../../fixtures/page/badge.tsx';
import { Card } from '../../../../fixtures/page/card.tsx';
import { Choice, FilterField } from '../../../../fixtures/page/field.tsx';
import { Empty } from '../../../../fixtures/page/states.tsx';
import { Table } from '../../../../fixtures/page/table.tsx';
import { TextBlock } from '../../../../fixtures/page/text-block.tsx';
import {
  type OpenApiDocument,
  operationsOf,
  type PlacedOperation,
  responsesOf,
  typeText,
} from '../../../../fixtures/reference/openapi-document.ts';
import { useQuery } from '../address.ts';
import { requestJson } from '../api/client.ts';
import { useLoaded } from '../api/loaded.ts';
import { View } from '../parts/view.tsx';

const loadDocument = async () => (await requestJson('GET /openapi.json')) as OpenApiDocument;

export default function ReferenceSection() {
  const { id } = useParams();
  const loaded = useLoaded(loadDocument, 'reference');
  return (
    <>
      <h1>Reference</h1>
      <View subject="the reference" loaded={loaded}>
        {(document) =>
          id === undefined ? (
            <Operations document={document} />
          ) : (
            <Operation id={id} document={document} />
          )
        }
      </View>
    </>
  );
}

function Operations({ document }: { document: OpenApiDocument }) {
  const [query, setQuery] = useQuery('words');
  const [tag, setTag] = useQuery('tag');
  const all = operationsOf(document);
  const tags = [...new Set(all.flatMap(({ operation }) => operation.tags))];
  const searchText = query.toLowerCase();
  const rows = all.filter(
    ({ method, path, operation }) =>
      (tag === '' || operation.tags.includes(tag)) &&
      `${method} ${path} ${operation.operationId} ${operation.summary}`
        .toLowerCase()
        .includes(searchText),
  );
  return (
    <>
      <p class="muted">
        As documents: <a href="/openapi.json">OpenAPI 3.1</a>,{' '}
        <a href="/asyncapi.json">AsyncAPI 3</a> of the messages on /connect.
      </p>
      <search class="filters">
        <FilterField label="Path or words" value={query} onInput={setQuery} />
        <Choice label="Area" value={tag} choices={[['', 'all areas'], ...tags]} onChoose={setTag} />
      </search>
      {rows.length === 0 ? (
        <Empty title="No matching operations" />
      ) : (
        <Table
          caption={`${rows.length} operations`}
          rows={rows}
          keyOf={({ operation }) => operation.operationId}
          columns={[
            { title: 'Operation', cell: (row) => <Name row={row} /> },
            { title: 'What it does', cell: ({ operation }) => operation.summary },
            { title: 'Area', cell: ({ operation }) => operation.tags.join(', ') },
          ]}
        />
      )}
    </>
  );
}

function Name({ row: { method, path, operation } }: { row: PlacedOperation }) {
  return (
    <>
      <Link href={`/reference/${operation.operationId}`}>
        {method} {path}
      </Link>{' '}
      {operation.deprecated && <Badge tone="negative">deprecated</Badge>}
    </>
  );
}

function Operation({ id, document }: { id: string; document: OpenApiDocument }) {
  const entry = operationsOf(document).find(({ operation }) => operation.operationId === id);
  if (!entry) return <Empty title={`There is no operation ${id}`} />;
  const { method, path, operation } = entry;
  const { summary, description, parameters = [], requestBody } = operation;
  const requirements = (operation['x-requirements'] ?? []).flatMap((each) => {
    const requirement = document['x-requirements'][each];
    return requirement ? [{ id: each, ...requirement }] : [];
  });
  return (
    <>
      <p>
        <Link href="/reference">All operations</Link>
      </p>
      <Card title={`${method} ${path}`}>
        <p>{summary}</p>
        {description !== undefined && <p>{description}</p>}
        {parameters.length > 0 && (
          <Table
            caption="Parameters"
            rows={parameters}
            keyOf={({ name }) => name}
            columns={[
              { title: 'Name', cell: ({ name }) => <code>{name}</code> },
              { title: 'In', cell: (row) => row.in },
              { title: 'Required', cell: ({ required }) => (required ? 'yes' : 'no') },
              { title: 'Type', cell: ({ schema }) => typeText(schema) },
            ]}
          />
        )}
      </Card>
      {Object.entries(requestBody?.content ?? {}).map(([mediaType, { schema, example }]) => (
        <Card key={mediaType} title={`Body: ${mediaType}, ${typeText(schema)}`}>
          <TextBlock text={JSON.stringify(example ?? schema, null, 2)} />
        </Card>
      ))}
      <Card title="Responses">
        <Table
          caption="Responses by status"
          isCaptionHidden
          rows={responsesOf(document, operation)}
          keyOf={([status]) => status}
          columns={[
            { title: 'Status', cell: ([status]) => status },
            { title: 'Meaning', cell: ([, response]) => response.description },
            { title: 'Body', cell: ([, { content = {} }]) => bodyText(content) },
            { title: 'Headers', cell: ([, { headers = {} }]) => Object.keys(headers).join(', ') },
          ]}
        />
      </Card>
      {requirements.length > 0 && (
        <Card title="Requirements of the contract">
          <Table
            caption={`${requirements.length} requirements`}
            rows={requirements}
            keyOf={(row) => row.id}
            columns={[
              { title: 'Level', cell: ({ level }) => level },
              { title: 'Sentence', cell: ({ sentence }) => sentence },
              { title: 'ID', cell: (row) => <code>{row.id}</code> },
            ]}
          />
        </Card>
      )}
    </>
  );
}

type Content = NonNullable<ReturnType<typeof responsesOf>[number][1]['content']>;

function bodyText(content: Content): string {
  return Object.entries(content)
    .map(([mediaType, { schema }]) => `${mediaType}: ${typeText(schema)}`)
    .join(', ');
}
