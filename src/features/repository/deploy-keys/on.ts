import { on } from '../../../context.ts'
import { releaseDeployKeys } from './service.ts'

export const releaseKeys = on('project.deleted', 'release deploy keys', (app, { id }) => releaseDeployKeys(app, id))
