import { family } from '../../family.ts'
import * as routes from './routes.ts'
import { replaceFeedTokens } from './secrets.ts'
import { routes as web } from './web.ts'

export const feedTokens = family({ routes, web: [web], secretReset: replaceFeedTokens })
