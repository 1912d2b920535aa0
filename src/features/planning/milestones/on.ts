import { on, type App } from '../../../context.ts'
import type { Subscription } from '../../../jobs/worker.ts'
import { projectsIn } from '../scopes.ts'
import { keepMilestones } from './promotion.ts'

const projectTransferred = on('project.transferred', 'milestones', keepMilestones)

const groupTransferred = on('group.transferred', 'milestones', async (app, { id, by }) => {
  for await (const project of projectsIn(app.db, id)) await keepMilestones(app, { id: project, by })
})

export const reactions: Subscription<App>[] = [projectTransferred, { ...groupTransferred, long: true }]
