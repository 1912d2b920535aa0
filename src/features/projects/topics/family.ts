import { family } from '../../family.ts'
import * as routes from './routes.ts'
import * as web from './web.ts'

export const topics = family({
  routes,
  blobs: [{ table: 'topics', column: 'avatar_digest' }],
  web: [web.routes],
})
