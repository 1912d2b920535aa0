import { family } from '../../family.ts'
import { releaseKeys, releaseKeysOfPurged } from './on.ts'
import * as routes from './routes.ts'

export const deployKeys = family({
  routes,
  reactions: [releaseKeys, releaseKeysOfPurged],
})
