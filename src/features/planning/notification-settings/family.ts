import { family } from '../../family.ts'
import { deleteSettingOfFormerMember } from './on.ts'
import * as routes from './routes.ts'

export const notificationSettings = family({ routes, reactions: [deleteSettingOfFormerMember] })
