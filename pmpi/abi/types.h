/* SPDX-License-Identifier: Apache-2.0
 *
 * The types of functions that programs pass to MPI: the same in all ABIs.
 */
#ifndef MARLINE_PMPI_TYPES_H
#define MARLINE_PMPI_TYPES_H

typedef void MPI_User_function(void* invec, void* inoutvec, int* len, MPI_Datatype* datatype);
typedef void MPI_User_function_c(void* invec, void* inoutvec, MPI_Count* len, MPI_Datatype* datatype);

typedef int MPI_Grequest_query_function(void* extra_state, MPI_Status* status);
typedef int MPI_Grequest_free_function(void* extra_state);
typedef int MPI_Grequest_cancel_function(void* extra_state, int complete);

typedef int MPI_Comm_copy_attr_function(MPI_Comm comm, int keyval, void* extra_state, void* value_in, void* value_out,
                                        int* flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int keyval, void* value, void* extra_state);
typedef int MPI_Type_copy_attr_function(MPI_Datatype datatype, int keyval, void* extra_state, void* value_in,
                                        void* value_out, int* flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype datatype, int keyval, void* value, void* extra_state);
typedef int MPI_Win_copy_attr_function(MPI_Win win, int keyval, void* extra_state, void* value_in, void* value_out,
                                       int* flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int keyval, void* value, void* extra_state);
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;

typedef int MPI_Datarep_extent_function(MPI_Datatype datatype, MPI_Aint* extent, void* extra_state);
typedef int MPI_Datarep_conversion_function(void* userbuf, MPI_Datatype datatype, int count, void* filebuf,
                                            MPI_Offset position, void* extra_state);
typedef int MPI_Datarep_conversion_function_c(void* userbuf, MPI_Datatype datatype, MPI_Count count, void* filebuf,
                                              MPI_Offset position, void* extra_state);

typedef void MPI_Comm_errhandler_function(MPI_Comm* comm, int* error, ...);
typedef void MPI_File_errhandler_function(MPI_File* file, int* error, ...);
typedef void MPI_Win_errhandler_function(MPI_Win* win, int* error, ...);

#endif
