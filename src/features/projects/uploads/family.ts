import { family } from '../../family.ts'
import * as routes from './routes.ts'

export const uploads = family({
  routes,
  blobs: [{ table: 'uploads', column: 'digest' }],
})
