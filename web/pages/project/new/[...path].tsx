/** A new file in a folder, written here or uploaded. */
import { commitFiles, contentOf, uploadOf } from '../../../commits.ts'
import { CommitFields } from '../../../components/CommitFields.tsx'
import { Button, Field, Form } from '../../../components/Form.tsx'
import { Tabs } from '../../../components/lists.tsx'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { locationAddress, locationAt } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/repository.ts'

interface Data {
  location: { ref: string; path: string; sha: string | null; isBranch: boolean }
}

const clean = (path: string) => path.split('/').filter(Boolean).join('/')

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  async load({ api, params }) {
    const id = params.id!
    // An empty repository has no branch: the first file creates it.
    const found = await locationAt(api, id, params.path!).catch(() => null)
    if (!found) return { location: { ref: params.path!, path: '', sha: null, isBranch: true } }
    const { ref, path, commit } = found
    const branch = await api.maybe('/projects/{id}/repository/branches/{branch}', { id, branch: ref })
    return { location: { ref, path, sha: commit.id, isBranch: branch !== null } }
  },
  title: () => t.newFile,
  actions: {
    async create(act) {
      const file_path = clean(text(act.form, 'file_path'))
      return commitFiles(act, [{ action: 'create', file_path, content: contentOf(act.form) }], file_path)
    },
    async upload(act) {
      const { name, content } = await uploadOf(act.form, 'file')
      const file_path = clean(`${text(act.form, 'folder')}/${text(act.form, 'name') || name}`)
      return commitFiles(act, [{ action: 'create', file_path, content, encoding: 'base64' }], file_path)
    },
  },
  View: ({ project, location: { ref, path, sha, isBranch }, address, query }) => {
    const isUpload = query.has('upload')
    const end = (message: string) => (
      <>
        <CommitFields project={project} at={ref} isBranch={isBranch} sha={sha} message={message} />
        <div class="row">
          <Button kind="main">{common.commitChanges}</Button>
          <a href={sha === null ? `/${project.path_with_namespace}` : locationAddress(project, 'tree', ref, path)}>
            {common.cancel}
          </a>
        </div>
      </>
    )
    return (
      <>
        <h1>{t.newFile}</h1>
        <Tabs
          label={t.inputMode}
          tabs={[
            { text: common.write, href: withQuery(address, { upload: null }), isCurrent: !isUpload },
            { text: t.upload, href: withQuery(address, { upload: '1' }), isCurrent: isUpload },
          ]}
        />
        {isUpload ? (
          <Form action="upload" class="file-form" files>
            <Field name="file" label={common.file} type="file" required />
            <Field name="folder" label={common.folder} value={path} hint={t.leaveEmptyForRootFolder} />
            <Field name="name" label={common.name} hint={t.leaveEmptyToKeepFileName} />
            {end(t.uploadFile)}
          </Form>
        ) : (
          <Form action="create" class="file-form">
            <Field
              name="file_path"
              label={t.path}
              value={path ? `${path}/` : (query.get('name') ?? '')}
              placeholder="folder/name.txt"
              required
            />
            <Field name="content" label={common.content} lines={20} />
            {end(common.addFile)}
          </Form>
        )}
      </>
    )
  },
})
