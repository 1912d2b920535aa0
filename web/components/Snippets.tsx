/** Snippets of a project or a user: list, content and form. */
import { useState } from 'preact/hooks'
import type { Listed, Records } from '../api.ts'
import { useSurroundings } from '../surroundings.ts'
import { text, type FormFields } from '../page.ts'
import { Person } from './Avatar.tsx'
import { ActButton, Button, Choice, Field, Form, Tick } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Prose, Visibility } from './State.tsx'
import { Time } from './Time.tsx'
import { WritingArea } from './WritingArea.tsx'
import { Pages, Row, Rows } from './lists.tsx'
import { pathOf } from '../refs.ts'
import { rich } from '../rich.ts'
import * as common from '../texts/common.ts'
import * as t from '../texts/snippets.ts'
import './Snippets.css'

export type Snippet = Records['Snippet']

export const SnippetList = ({ snippets }: { snippets: Listed<Snippet[]> }) => (
  <>
    <Rows label={common.snippets}>
      {snippets.items.map((one) => (
        <Row
          key={one.id}
          lead={<Icon name="file" />}
          title={
            <>
              <a href={pathOf(one.web_url)}>{one.title}</a> <Visibility of={one.visibility} />
            </>
          }
          facts={
            <>
              {one.files.length > 1 ? t.fileCount(one.files.length) : one.file_name} · <Person of={one.author} />,{' '}
              <Time at={one.updated_at} />
            </>
          }
        />
      ))}
    </Rows>
    <Pages of={snippets} />
  </>
)

/** The edit page is below the URL of the snippet. */
export function SnippetView({ snippet, mayChange }: { snippet: Snippet; mayChange: boolean }) {
  const path = pathOf(snippet.web_url)
  return (
    <>
      <div class="head">
        <div>
          <h1>{snippet.title}</h1>
          <p class="row">
            <Visibility of={snippet.visibility} />
            <span class="quiet">
              {rich(t.byPersonTime, { person: <Person of={snippet.author} />, time: <Time at={snippet.created_at} /> })}
            </span>
          </p>
        </div>
        {mayChange && (
          <div class="row">
            <a class="button" href={`${path}/edit`}>
              <Icon name="pencil" /> {common.edit}
            </a>
            <ActButton action="destroy" kind="danger" confirm={t.deleteTitle(snippet.title)}>
              <Icon name="trash" /> {common.deleteLabel}
            </ActButton>
          </div>
        )}
      </div>
      {snippet.description_html && <Prose html={snippet.description_html} />}
      {snippet.files.map((file) => (
        <section class="card" aria-label={file.path} key={file.path}>
          <header>
            <Icon name="file" /> {file.path}
            <a class="note-tools" href={pathOf(file.raw_url)}>
              {common.raw}
            </a>
          </header>
          <pre class="snippet-code" tabIndex={0} aria-label={t.contentOfPath(file.path)} role="region">
            <code dangerouslySetInnerHTML={{ __html: file.content_html ?? '' }} />
          </pre>
        </section>
      ))}
    </>
  )
}

interface SnippetFormProps {
  action: string
  snippet?: Snippet
  /** The default of a new one. */
  visibility?: Snippet['visibility']
}

const MOST_FILES = 10

export function SnippetForm({ action, snippet, visibility }: SnippetFormProps) {
  const files = snippet?.files ?? []
  const { returned } = useSurroundings()
  // Files of a returned form stay.
  const filled = Array.from({ length: MOST_FILES }, (_, n) => n).filter((n) => returned?.values[`path_${n}`])
  const [shown, setShown] = useState(Math.max(1, files.length, (filled.at(-1) ?? -1) + 1))
  return (
    <Form action={action} class="narrow">
      <Field name="title" label={common.title} required value={snippet?.title} />
      <WritingArea name="description" label={common.description} lines={3} value={snippet?.description} />
      {Array.from({ length: shown }, (_, n) => (
        <FileFields file={files[n]} at={n} isOnly={shown === 1} key={n} />
      ))}
      {shown < MOST_FILES && (
        <p>
          <button type="button" class="button snippet-more" onClick={() => setShown(shown + 1)}>
            <Icon name="plus" /> {t.addAnotherFile}
          </button>
        </p>
      )}
      <Choice
        name="visibility"
        label={common.visibility}
        value={snippet?.visibility ?? visibility}
        options={[
          ['private', t.privateOnlyProjectMembers],
          ['internal', common.internalAllSignedInUsers],
          ['public', common.publicEveryone],
        ]}
      />
      <Button kind="main">{t.saveSnippet}</Button>
    </Form>
  )
}

interface FileFieldsProps {
  file: Snippet['files'][number] | undefined
  at: number
  isOnly: boolean
}

function FileFields({ file, at, isOnly }: FileFieldsProps) {
  const isFirst = at === 0
  return (
    <fieldset class="snippet-file">
      <legend>{isOnly ? common.file : t.fileNumber(at + 1)}</legend>
      {file && <input type="hidden" name={`previous_${at}`} value={file.path} />}
      <Field name={`path_${at}`} label={t.fileName} required={isFirst} value={file?.path} placeholder="example.ts" />
      <Field
        name={`content_${at}`}
        label={common.content}
        lines={isOnly ? 16 : 10}
        required={isFirst}
        value={file?.content}
      />
      {file && !isOnly && (
        <label class="row">
          <Tick name={`drop_${at}`} /> {t.removeThisFile}
        </label>
      )}
    </fieldset>
  )
}

const VISIBILITIES = ['private', 'internal', 'public'] as const

const fieldsOf = (form: FormFields) => ({
  title: text(form, 'title'),
  description: text(form, 'description'),
  visibility: VISIBILITIES.find((one) => one === text(form, 'visibility')) ?? 'private',
})

/** Files of the form that have a name. */
const filesIn = (form: FormFields) =>
  Array.from({ length: MOST_FILES }, (_, n) => ({
    previous_path: text(form, `previous_${n}`),
    file_path: text(form, `path_${n}`).trim(),
    content: text(form, `content_${n}`).replaceAll('\r\n', '\n'),
    isDropped: text(form, `drop_${n}`) === 'true',
  })).filter(({ file_path, previous_path }) => file_path !== '' || previous_path !== '')

export const newSnippetOf = (form: FormFields) => ({
  ...fieldsOf(form),
  files: filesIn(form).map(({ file_path, content }) => ({ file_path, content })),
})

type FileChange = NonNullable<Records['snippets_update_input']['files']>[number]

/** The change of a file: delete, update, move or create. */
function changeOf({ previous_path, file_path, content, isDropped }: ReturnType<typeof filesIn>[number]): FileChange {
  if (previous_path === '') return { action: 'create', file_path, content }
  if (isDropped || file_path === '') return { action: 'delete', file_path: previous_path }
  if (file_path === previous_path) return { action: 'update', file_path, content }
  return { action: 'move', previous_path, file_path, content }
}

export const changedSnippetOf = (form: FormFields) => ({ ...fieldsOf(form), files: filesIn(form).map(changeOf) })
