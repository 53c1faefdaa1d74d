export interface Actions {}
export interface Events {}
