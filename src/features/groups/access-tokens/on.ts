import { on } from '../../../context.ts'
import { removeBotsOf } from './service.ts'

export const removeBotsOfProject = on(
  'project.deleted',
  'access-tokens',
  (app, { id }) => removeBotsOf(app, { project_id: id }),
  { when: ({ in_bin }) => !in_bin },
)
export const removeBotsOfPurgedProject = on('project.purged', 'access-tokens', (app, { id }) =>
  removeBotsOf(app, { project_id: id }),
)
export const removeBotsOfGroup = on(
  'group.deleted',
  'access-tokens',
  (app, { id }) => removeBotsOf(app, { group_id: id }),
  { when: ({ in_bin }) => !in_bin },
)
export const removeBotsOfPurgedGroup = on('group.purged', 'access-tokens', (app, { id }) =>
  removeBotsOf(app, { group_id: id }),
)
