import { on } from '../../../context.ts'
import { linkDeployed } from './service.ts'

export const linkAfter = on('deployment.changed', 'merge requests', (app, { id }) => linkDeployed(app, id), {
  when: ({ status }) => status === 'success',
})
