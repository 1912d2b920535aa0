import { servicePage } from '../../../../components/services/one.tsx'

export const page = servicePage('group')
