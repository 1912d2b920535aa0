/** Lists of deleted projects and groups, with forms that restore them or delete them for good. */
import type { Listed, Records } from '../api.ts'
import { text, type Act, type Flash } from '../page.ts'
import { rich } from '../rich.ts'
import { useSurroundings } from '../surroundings.ts'
import * as common from '../texts/common.ts'
import { doneWithLink } from '../undo.ts'
import { Person } from './Avatar.tsx'
import { Button, Field, Form } from './Form.tsx'
import { assertTyped } from './confirmed.tsx'
import { Empty, Pages, Row, Rows, Tabs } from './lists.tsx'

export interface DeletedData {
  projects: Listed<Records['Project'][]>
  groups: Listed<Records['Group'][]>
}

/** The path and the name before the deletion, which added a suffix. */
const original = (name: string) => name.replace(/-deletion_scheduled-\d+(-[0-9a-f]+)?$/, '')

interface DeletedProps {
  kind: 'project' | 'group'
  id: number
  name: string
  path: string
  fullPath: string
  day: string | null
  by: Records['UserSummary'] | null
}

const Deleted = ({ kind, id, name, path, fullPath, day, by }: DeletedProps) => (
  <Row
    title={original(fullPath)}
    facts={rich(common.deletedOnBy, { day, user: <Person of={by} /> })}
    aside={
      <>
        <Form action={`restore_${kind}`} id={`restore-${kind}-${id}`}>
          <input type="hidden" name="id" value={id} />
          <Field name="name" label={common.name} value={original(name)} />
          <Field name="path" label={common.urlSlug} value={original(path)} />
          <Button>{common.restore}</Button>
        </Form>
        <Form action={`remove_${kind}`} id={`remove-${kind}-${id}`}>
          <input type="hidden" name="id" value={id} />
          <input type="hidden" name="full_path" value={original(fullPath)} />
          <Field name="confirmation" label={common.enterToConfirm(original(fullPath))} required />
          <Button kind="danger">{common.deletePermanently}</Button>
        </Form>
      </>
    }
  />
)

export const DeletedGroups = ({ groups }: { groups: readonly Records['Group'][] }) => (
  <Rows label={common.groups}>
    {groups.map(({ id, name, path, full_path, marked_for_deletion_on: day, deleted_by: by = null }) => (
      <Deleted key={id} kind="group" id={id} name={name} path={path} fullPath={full_path} day={day} by={by} />
    ))}
  </Rows>
)

export const DeletedProjects = ({ projects }: { projects: readonly Records['Project'][] }) => (
  <Rows label={common.projects}>
    {projects.map(({ id, name, path, path_with_namespace, marked_for_deletion_on: day, deleted_by: by = null }) => (
      <Deleted
        key={id}
        kind="project"
        id={id}
        name={name}
        path={path}
        fullPath={path_with_namespace}
        day={day}
        by={by}
      />
    ))}
  </Rows>
)

/** A list of the administration shows living records, or with `?deleted` those in the bin. */
export const asksForDeleted = (query: URLSearchParams): boolean => query.has('deleted')

export function DeletedTabs({ label, path }: { label: string; path: string }) {
  const isDeleted = asksForDeleted(useSurroundings().query)
  return (
    <Tabs
      label={label}
      tabs={[
        { text: common.activeTab, href: path, isCurrent: !isDeleted },
        { text: common.deletedTab, href: `${path}?deleted=true`, isCurrent: isDeleted },
      ]}
    />
  )
}

/** Both lists have the same page number. */
export const DeletedLists = ({ projects, groups }: DeletedData) => (
  <>
    {projects.items.length + groups.items.length === 0 && <Empty title={common.nothingToRestore} />}
    {groups.items.length > 0 && <DeletedGroups groups={groups.items} />}
    {projects.items.length > 0 && <DeletedProjects projects={projects.items} />}
    <Pages of={(groups.pages ?? 0) > (projects.pages ?? 0) ? groups : projects} />
  </>
)

/** After the deletion of a project or group, on the home page. */
export const deletedFlash = (done: string, lastDay: string | null): Flash =>
  lastDay === null
    ? { to: '/', flash: { done } }
    : doneWithLink(done, '/', { href: '/dashboard/deleted', text: common.deletedProjectsAndGroups })

const restoreInput = ({ form }: Act) => ({ id: text(form, 'id'), name: text(form, 'name'), path: text(form, 'path') })

function removeInput({ form }: Act) {
  const full_path = text(form, 'full_path')
  assertTyped(form, full_path)
  return { id: text(form, 'id'), permanently_remove: true, full_path }
}

export const deletedActions = {
  async restore_project(act: Act) {
    const project = await act.api.post('/projects/{id}/restore', restoreInput(act))
    return `/${project.path_with_namespace}`
  },
  async restore_group(act: Act) {
    const group = await act.api.post('/groups/{id}/restore', restoreInput(act))
    return `/groups/${group.full_path}`
  },
  async remove_project(act: Act) {
    await act.api.delete('/projects/{id}', removeInput(act))
  },
  async remove_group(act: Act) {
    await act.api.delete('/groups/{id}', removeInput(act))
  },
}
