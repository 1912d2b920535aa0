import { family } from '../../family.ts'
import { dropUnlinkedObjects } from './jobs.ts'
import { linkObjectsOfSource } from './on.ts'

export const lfs = family({
  jobs: [dropUnlinkedObjects],
  reactions: [linkObjectsOfSource],
  blobs: [{ table: 'lfs_objects', column: 'oid' }],
})
