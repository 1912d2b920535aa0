import { family } from '../../family.ts'
import * as routes from './routes.ts'

export const namespaces = family({
  routes,
  blobs: [{ table: 'namespaces', column: 'avatar_digest' }],
})
