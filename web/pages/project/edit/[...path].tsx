/** The page to edit, move or delete a file. */
import type { ComponentChildren } from 'preact'
import type { Records } from '../../../api.ts'
import { commitFiles, contentOf, decodeText, uploadOf } from '../../../commits.ts'
import { CommitFields } from '../../../components/CommitFields.tsx'
import { Button, Field, Form, useValue } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Tabs } from '../../../components/lists.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text, type Act } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { locationAddress, locationAt, type RefLocation } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

const LARGEST = 1_000_000

interface Data {
  location: RefLocation
  isBranch: boolean
  file: Pick<Records['RepositoryFile'], 'file_name' | 'file_path' | 'last_commit_id'>
  /** Null if the file cannot be edited here. */
  content: string | null
}

const clean = (path: string) => path.split('/').filter(Boolean).join('/')

const wayOf = ({ form }: Act) => ({
  file_path: clean(text(form, 'file_path')),
  previous_path: text(form, 'previous_path'),
  last_commit_id: text(form, 'last_commit_id') || null,
})

/** Another path moves the file with its content. */
function write(act: Act, content: { content?: string; encoding?: 'base64' }): Promise<string> {
  const { file_path, previous_path, last_commit_id } = wayOf(act)
  const isMoved = file_path !== previous_path
  const change = isMoved
    ? { action: 'move' as const, file_path, previous_path, last_commit_id, ...content }
    : { action: 'update' as const, file_path, last_commit_id, ...content }
  return commitFiles(act, [change], file_path)
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  async load({ api, params }) {
    const id = params.id!
    const location = await locationAt(api, id, params.path!)
    const found = api.get('/projects/{id}/repository/files/{file_path}', {
      id,
      file_path: location.path,
      ref: location.ref,
    })
    return {
      location,
      isBranch: api
        .maybe('/projects/{id}/repository/branches/{branch}', { id, branch: location.ref })
        .then((branch) => branch !== null),
      file: found.then(({ file_name, file_path, last_commit_id }) => ({ file_name, file_path, last_commit_id })),
      content: found.then(({ size, content }) => (size > LARGEST ? null : decodeText(content))),
    }
  },
  title: ({ file }) => t.editFilePath(file.file_path),
  actions: {
    save: (act) => write(act, { content: contentOf(act.form) }),
    rename: (act) => write(act, {}),
    async replace(act) {
      const { content } = await uploadOf(act.form, 'file')
      return write(act, { content, encoding: 'base64' })
    },
    remove: (act) => commitFiles(act, [{ action: 'delete', file_path: text(act.form, 'previous_path') }], ''),
  },
  View: ({ project, location, isBranch, file, content, address, query }) => {
    const { ref, path, commit } = location
    const way = query.get('way') ?? (content === null ? 'replace' : 'edit')
    const tab = (name: string, label: string) => ({
      text: label,
      href: withQuery(address, { way: name }),
      isCurrent: way === name,
    })
    const end = (message: string, button: ComponentChildren, kind: 'main' | 'danger' = 'main') => (
      <>
        <input type="hidden" name="previous_path" value={path} />
        <input type="hidden" name="last_commit_id" value={file.last_commit_id} />
        <CommitFields project={project} at={ref} isBranch={isBranch} sha={commit.id} message={message} />
        <div class="row">
          <Button kind={kind}>{button}</Button>
          <a href={locationAddress(project, 'blob', ref, path)}>{common.cancel}</a>
        </div>
      </>
    )
    return (
      <>
        <h1>{file.file_path}</h1>
        <Tabs
          label={t.editMode}
          tabs={[
            ...(content === null ? [] : [tab('edit', common.edit)]),
            tab('replace', t.replace),
            tab('rename', common.rename),
            tab('delete', common.deleteLabel),
          ]}
        />
        {way === 'edit' && content !== null && (
          <Form action="save" class="file-form" id="save">
            <Field name="file_path" label={t.path} value={path} required />
            <input type="hidden" name="endings" value={content.includes('\r\n') ? 'crlf' : 'lf'} />
            <Editor content={content} />
            {end(t.updateFileName(file.file_name), common.commit)}
          </Form>
        )}
        {way === 'replace' && (
          <Form action="replace" class="file-form" id="replace" files>
            <input type="hidden" name="file_path" value={path} />
            <Field name="file" label={t.replacementFile} type="file" required />
            {end(t.replaceFileName(file.file_name), common.commit)}
          </Form>
        )}
        {way === 'rename' && (
          <Form action="rename" class="file-form" id="rename">
            <Field name="file_path" label={t.newPath} value={path} required />
            {end(t.renameFileName(file.file_name), common.commit)}
          </Form>
        )}
        {way === 'delete' && (
          <Form action="remove" class="file-form" id="remove">
            <p>{t.theFileIsDeleted}</p>
            {end(
              t.deleteName(file.file_name),
              <>
                <Icon name="trash" /> {t.deleteFile}
              </>,
              'danger',
            )}
          </Form>
        )}
      </>
    )
  },
})

/** HTML parsers drop a line break at the start of a textarea, so one more is added. */
function Editor({ content }: { content: string }) {
  const shown = useValue('content', content)
  return (
    <label class="field">
      <span class="field-label">{common.content}</span>
      <textarea
        name="content"
        rows={24}
        spellcheck={false}
        defaultValue={(shown.startsWith('\n') ? '\n' : '') + shown}
      />
    </label>
  )
}
