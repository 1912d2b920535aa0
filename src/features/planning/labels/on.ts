import { on, type App } from '../../../context.ts'
import type { Subscription } from '../../../jobs/worker.ts'
import { projectsIn } from '../scopes.ts'
import { keepLabels } from './promotion.ts'

const projectTransferred = on('project.transferred', 'labels', keepLabels)

const groupTransferred = on('group.transferred', 'labels', async (app, { id, by }) => {
  for await (const project of projectsIn(app.db, id)) await keepLabels(app, { id: project, by })
})

export const reactions: Subscription<App>[] = [projectTransferred, { ...groupTransferred, long: true }]
