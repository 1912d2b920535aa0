import { on, type App } from '../../../context.ts'
import type { Subscription } from '../../../jobs/worker.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { transact } from '../../../store/transact.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { pushDataOf } from './pushes.ts'
import { recordActivities, recordNote } from './service.ts'

const projectCreated = on('project.created', 'activities', async (app, { id, by }, { at }) => {
  const project = await findProjectById(app.db, id)
  if (!project) return
  const kind = project.import_url === null ? 'project.created' : 'project.imported'
  await recordActivities(app, [{ project_id: id, author_id: by, kind, source: `project ${id}`, created_at: at }])
})

const memberAdded = on(
  'member.added',
  'activities',
  async (app, { project_id, user_id }, { source, at }) => {
    if (await isThere(app, project_id!, user_id))
      await recordActivities(app, [
        { project_id: project_id!, author_id: user_id, kind: 'member.joined', source, created_at: at },
      ])
  },
  { when: ({ project_id }) => project_id !== null },
)

const memberRemoved = on(
  'member.removed',
  'activities',
  async (app, { project_id, user_id, expired }, { source, at }) => {
    const kind = expired ? 'member.expired' : 'member.left'
    if (await isThere(app, project_id!, user_id))
      await recordActivities(app, [{ project_id: project_id!, author_id: user_id, kind, source, created_at: at }])
  },
  { when: ({ project_id }) => project_id !== null },
)

const ROWS_A_QUERY = 500

/** One activity per ref. */
const repositoryChanged = on(
  'repository.changed',
  'activities',
  async (app, { project_id, by, updates }, { source, at }) => {
    const project = await findProjectById(app.db, project_id)
    if (!project || !(await isThere(app, project_id, by!))) return
    const activities = (await pushDataOf(app, project, updates)).flatMap((push, n) => {
      const facts = { project_id, author_id: by!, source: source && `${source}.${n}`, created_at: at }
      return push ? [{ ...facts, kind: `push.${push.action}` as const, push: JSON.stringify(push) }] : []
    })
    for (const some of batchesOf(activities, ROWS_A_QUERY)) await recordActivities(app, some)
  },
  { when: ({ wiki, by }) => !wiki && by !== null },
)

/** For notes of a previous version, which does not record their activity itself. */
const noteCreated = on(
  'note.created',
  'activities',
  (app, { id }) =>
    transact(app, async (app) => {
      const note = await app.db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst()
      if (note) await recordNote(app, note) // or deleted meanwhile
    }),
  { when: ({ recorded = false }) => !recorded },
)

/** Whether both the project and the user still exist. */
async function isThere({ db }: App, project: number, user: number): Promise<boolean> {
  const found = await db
    .selectFrom('projects')
    .innerJoin('users', (join) => join.on('users.id', '=', user))
    .select('projects.id')
    .where('projects.id', '=', project)
    .executeTakeFirst()
  return found !== undefined
}

export const reactions: Subscription<App>[] = [
  projectCreated,
  memberAdded,
  memberRemoved,
  { ...repositoryChanged, long: true },
  noteCreated,
]
