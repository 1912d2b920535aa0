import { family } from '../../family.ts'
import * as web from './web.ts'

export const projectAvatars = family({ web: [web.routes], blobs: [{ table: 'projects', column: 'avatar_digest' }] })
