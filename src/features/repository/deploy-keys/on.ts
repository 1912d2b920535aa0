import { on } from '../../../context.ts'
import { releaseDeployKeys } from './service.ts'

export const releaseKeys = on(
  'project.deleted',
  'release deploy keys',
  (app, { id }) => releaseDeployKeys(app, id),
  { when: ({ in_bin }) => !in_bin }, // a restored project has its keys
)
export const releaseKeysOfPurged = on('project.purged', 'release deploy keys', (app, { id }) =>
  releaseDeployKeys(app, id),
)
