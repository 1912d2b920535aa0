/** Deleted projects and groups that the viewer can restore. */
import type { Listed, Records } from '../../../api.ts'
import { assertTyped } from '../../../components/confirmed.tsx'
import { Button, Field, Form } from '../../../components/Form.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { listPage } from '../../../fields.ts'
import { page as declare, text } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/home.ts'

interface Data {
  projects: Listed<Records['Project'][]>
  groups: Listed<Records['Group'][]>
}

const MOST_GROUPS = 100

/** The path and the name before the deletion, which added a suffix. */
const original = (name: string) => name.replace(/-deletion_scheduled-\d+(-[0-9a-f]+)?$/, '')

interface DeletedProps {
  kind: 'project' | 'group'
  id: number
  name: string
  path: string
  fullPath: string
  day: string | null
}

const Deleted = ({ kind, id, name, path, fullPath, day }: DeletedProps) => (
  <Row
    title={original(fullPath)}
    facts={t.deletedOn(day ?? '')}
    aside={
      <>
        <Form action={`restore_${kind}`} id={`restore-${kind}-${id}`}>
          <input type="hidden" name="id" value={id} />
          <Field name="name" label={common.name} value={original(name)} />
          <Field name="path" label={t.urlSlug} value={original(path)} />
          <Button>{t.restore}</Button>
        </Form>
        <Form action={`remove_${kind}`} id={`remove-${kind}-${id}`}>
          <input type="hidden" name="id" value={id} />
          <input type="hidden" name="full_path" value={original(fullPath)} />
          <Field name="confirmation" label={common.enterToConfirm(original(fullPath))} required />
          <Button kind="danger">{t.deletePermanently}</Button>
        </Form>
      </>
    }
  />
)

export const page = declare<Data>({
  signedIn: true,
  load: ({ api, query }) => ({
    projects: api.list('/projects', { only_pending_delete: true, ...listPage(query) }),
    groups: api.list('/groups', { only_pending_delete: true, per_page: MOST_GROUPS }),
  }),
  title: () => t.deletedProjectsAndGroups,
  View: ({ projects, groups }) => (
    <>
      <h1>{t.deletedProjectsAndGroups}</h1>
      {projects.items.length + groups.items.length === 0 && <Empty title={t.nothingToRestore} />}
      {groups.items.length > 0 && (
        <Rows label={common.groups}>
          {groups.items.map(({ id, name, path, full_path, marked_for_deletion_on: day }) => (
            <Deleted key={id} kind="group" id={id} name={name} path={path} fullPath={full_path} day={day} />
          ))}
        </Rows>
      )}
      {projects.items.length > 0 && (
        <Rows label={common.projects}>
          {projects.items.map(({ id, name, path, path_with_namespace, marked_for_deletion_on: day }) => (
            <Deleted key={id} kind="project" id={id} name={name} path={path} fullPath={path_with_namespace} day={day} />
          ))}
        </Rows>
      )}
      <Pages of={projects} />
    </>
  ),
  actions: {
    async restore_project({ api, form }) {
      const input = { name: text(form, 'name'), path: text(form, 'path') }
      const project = await api.post('/projects/{id}/restore', { id: text(form, 'id'), ...input })
      return `/${project.path_with_namespace}`
    },
    async restore_group({ api, form }) {
      const input = { name: text(form, 'name'), path: text(form, 'path') }
      const group = await api.post('/groups/{id}/restore', { id: text(form, 'id'), ...input })
      return `/groups/${group.full_path}`
    },
    async remove_project({ api, form }) {
      const full_path = text(form, 'full_path')
      assertTyped(form, full_path)
      await api.delete('/projects/{id}', { id: text(form, 'id'), permanently_remove: true, full_path })
    },
    async remove_group({ api, form }) {
      const full_path = text(form, 'full_path')
      assertTyped(form, full_path)
      await api.delete('/groups/{id}', { id: text(form, 'id'), permanently_remove: true, full_path })
    },
  },
})
