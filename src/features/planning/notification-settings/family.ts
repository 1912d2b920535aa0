import { family } from '../../family.ts'
import { forgetSettingOfLeaver } from './on.ts'
import * as routes from './routes.ts'

export const notificationSettings = family({ routes, reactions: [forgetSettingOfLeaver] })
